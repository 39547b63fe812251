"""Which files a git diff touches, read from its text."""

load(":messages.bzl", "patch_malformed")

visibility("//gate/...")

def _count(text):
    """The number of lines that `12,7` or `12` in a hunk header stands for."""
    parts = text.split(",")
    return int(parts[1]) if len(parts) == 2 else 1

def _is_range(text, sign):
    return text.startswith(sign) and text[1:].replace(",", "", 1).isdigit()

def touched_files(text, label):
    """The files that a diff touches. Fails on anything but edits of existing text files.

    A line of a hunk is told from a header by the hunk's own counts, since a removed
    line that begins with `-- ` looks like a header.

    Args:
      text: the patch.
      label: what messages call it.

    Returns:
      A list of paths, without the a/ and b/ prefixes, in order.
    """
    files = []
    old, new = 0, 0
    before = None
    for index, line in enumerate(text.split("\n")):
        number = index + 1
        if old or new:
            if line.startswith("-"):
                old -= 1
            elif line.startswith("+"):
                new -= 1
            elif line.startswith(" ") or line == "":
                old -= 1
                new -= 1
            elif not line.startswith("\\"):
                fail(patch_malformed(label, number, line, "the hunk ends before its counts say"))
            if old < 0 or new < 0:
                fail(patch_malformed(label, number, line, "the hunk is longer than its counts say"))
        elif line.startswith("@@ "):
            words = line.split(" ")
            if len(words) < 4 or not _is_range(words[1], "-") or not _is_range(words[2], "+") or not files:
                fail(patch_malformed(label, number, line, "no hunk header of the form `@@ -a,b +c,d @@` after a file header"))
            old, new = _count(words[1]), _count(words[2])
        elif line.startswith("--- a/"):
            before = line[len("--- a/"):]
        elif line.startswith("+++ b/") and before != None:
            after = line[len("+++ b/"):]
            if after != before:
                fail(patch_malformed(label, number, line, "a rename of `{}`".format(before)))
            files.append(after)
            before = None
        elif not (line.startswith("diff --git a/") or line.startswith("index ") or line == "" or line.startswith("\\")):
            fail(patch_malformed(label, number, line, "neither a file header nor a hunk"))
    if old or new or before != None:
        fail(patch_malformed(label, len(text.split("\n")), "the end", "the patch is cut short"))
    return files
