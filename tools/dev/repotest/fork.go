package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

const (
	// furtherDiff is a patch of a fork's owner, on top of the compatibility patch.
	furtherDiff = "diff --git a/src/lib.c b/src/lib.c\n--- a/src/lib.c\n+++ b/src/lib.c\n@@ -1 +1 @@\n-int lib;\n+int ours;\n" +
		"diff --git a/src/whisper.cpp b/src/whisper.cpp\n--- a/src/whisper.cpp\n+++ b/src/whisper.cpp\n@@ -1,3 +1,3 @@\n one\n batch = {};\n-two\n+2\n"
	ofLib       = "int ours;\n"
	ofWhisper   = "one\nbatch = {};\n2\n"
	lastDiff    = "diff --git a/src/lib.c b/src/lib.c\n--- a/src/lib.c\n+++ b/src/lib.c\n@@ -1 +1 @@\n-int ours;\n+int last;\n"
	ofLibAtLast = "int last;\n"
)

// fork is a whisper.cpp of a user's own, beside upstream's: its tag is written if name is set.
type fork struct {
	name string
	// patches are those of its owner, by file name below the folder of the pin.
	patches map[string][]byte
	pin     *pin.Pin
}

// resetFork leaves the fork out of the workspace; [withFork] puts it in.
func (w *world) resetFork() { w.fork = fork{} }

// withFork adds a fork with one patch of its owner, then edits it.
func withFork(edits ...func(w *world)) func(w *world) error {
	return func(w *world) error {
		mine := *w.pins[0]
		mine.Name = "mine"
		mine.Patches = []pin.FurtherPatch{{
			PatchRef:     pin.PatchRef{Label: "//pins:further.patch", SHA256: sum([]byte(furtherDiff))},
			PatchedFiles: []pin.FileRef{{Path: "src/lib.c", SHA256: sum([]byte(ofLib))}, {Path: "src/whisper.cpp", SHA256: sum([]byte(ofWhisper))}},
		}}
		w.fork = fork{name: "mine", patches: map[string][]byte{"further.patch": []byte(furtherDiff)}, pin: &mine}
		for _, edit := range edits {
			edit(w)
		}
		return nil
	}
}

// furtherAs puts another patch in the place of the pinned one, and pins its bytes.
func furtherAs(text string) func(w *world) {
	return func(w *world) {
		w.fork.patches["further.patch"] = []byte(text)
		w.fork.pin.Patches[0].SHA256 = sum([]byte(text))
	}
}

// withLast adds a second patch of the owner.
func withLast(w *world) {
	w.fork.patches["last.patch"] = []byte(lastDiff)
	w.fork.pin.Patches = append(w.fork.pin.Patches, pin.FurtherPatch{
		PatchRef:     pin.PatchRef{Label: "//pins:last.patch", SHA256: sum([]byte(lastDiff))},
		PatchedFiles: []pin.FileRef{{Path: "src/lib.c", SHA256: sum([]byte(ofLibAtLast))}},
	})
}

func (f fork) tag() string {
	if f.name == "" {
		return ""
	}
	tag := fmt.Sprintf("whisper.fork(name = %q, overlay = \"//pins:overlay.BUILD\", pin = \"//pins:mine.json\")\n", f.name)
	if f.name == "mine" {
		tag += "use_repo(whisper, \"mine\")\n"
	}
	return tag
}

func (w *world) writeFork(out map[string][]byte) error {
	if w.fork.name == "" {
		return nil
	}
	for name, data := range w.fork.patches {
		out["ws/pins/"+name] = data
	}
	data, err := json.Marshal(w.fork.pin)
	out["ws/pins/mine.json"] = data
	return err
}

// forkPatched checks that a fork's repository holds these files after all patches, and says so in pin.json.
func forkPatched(want map[string]string) func(w *world) error {
	return func(w *world) error {
		found, err := w.repositoryFiles("mine")
		if err != nil {
			return err
		}
		for path, text := range want {
			if got := string(found[path]); got != text {
				return fmt.Errorf("%s of the fork: expected %q, found %q", path, text, got)
			}
		}
		for i, p := range w.fork.pin.Patches {
			if copied := found[fmt.Sprintf("further_%d.patch", i+1)]; sum(copied) != p.SHA256 || !bytes.Contains(found["pin.json"], []byte(p.SHA256)) {
				return fmt.Errorf("patch %s of the fork: expected a copy and its SHA-256 in pin.json, found %q and %s", p.Label, copied, found["pin.json"])
			}
		}
		return nil
	}
}

var patchedOnce = map[string]string{"src/lib.c": ofLib, "src/whisper.cpp": ofWhisper, "unpatched/src/whisper.cpp": upstream["src/whisper.cpp"]}

var forkCases = []testCase{
	{name: "fork", fork: true, edit: withFork(), check: forkPatched(patchedOnce)},
	{name: "fork, two patches in order", fork: true, edit: withFork(withLast), check: forkPatched(map[string]string{"src/lib.c": ofLibAtLast, "src/whisper.cpp": ofWhisper})},
	{name: "fork without patches of its owner", fork: true, edit: withFork(func(w *world) { w.fork.pin.Patches = nil }), check: forkPatched(map[string]string{"src/lib.c": upstream["src/lib.c"], "src/whisper.cpp": patched})},
	{name: "fork leaves upstream's repository alone", edit: withFork(), check: exactlyPinned},
	{
		name: "fork takes its own archive", fork: true,
		edit:  all(withFork(), env("WHISPER_CPP_ARCHIVE", "{dir}/absent"), env("WHISPER_CPP_ARCHIVE_MINE", "{dir}/checkout")),
		check: forkPatched(patchedOnce),
	},
	{
		name: "fork, source changed", fork: true, edit: all(withFork(), spoilSource),
		refusal: []string{"src/lib.c of pin mine", "expected SHA-256 {source}", "WHISPER_CPP_ARCHIVE_<ITS NAME>"}, silent: []string{"further.patch"},
	},

	// A bad patch of the owner.
	{
		name: "further patch of other bytes", fork: true, edit: withFork(func(w *world) { w.fork.patches["further.patch"] = flip([]byte(furtherDiff)) }),
		refusal: []string{"further.patch of pin mine", "expected SHA-256 {further}", "found"},
	},
	{
		name: "further patch edited afterwards", fork: true, edit: withFork(),
		afterGood: flipFile(in("ws", "pins", "further.patch")), refusal: []string{"further.patch of pin mine", "expected SHA-256 {further}"},
	},
	{
		name: "further patch that does not apply", fork: true, edit: withFork(furtherAs(strings.Replace(furtherDiff, "-int lib;", "-int other;", 1))),
		refusal: []string{"further_1.patch", "src/lib.c"},
	},
	{
		name: "further patches in the other order", fork: true, edit: withFork(withLast, func(w *world) {
			p := w.fork.pin.Patches
			p[0], p[1] = p[1], p[0]
		}), refusal: []string{"further_1.patch", "src/lib.c"},
	},
	{
		name: "further patch that touches a file twice", fork: true, edit: withFork(furtherAs(furtherDiff + lastDiff)),
		refusal: []string{"further.patch of pin mine", "each once", "expected src/lib.c, src/whisper.cpp", "found src/lib.c, src/whisper.cpp, src/lib.c"},
	},
	{
		name: "further patch that touches one file less", fork: true, edit: withFork(furtherAs(furtherDiff[:strings.Index(furtherDiff, "diff --git a/src/whisper.cpp")])),
		refusal: []string{"further.patch of pin mine", "found src/lib.c."},
	},
	{
		name: "further patch that leaves other bytes", fork: true, edit: withFork(furtherAs(strings.Replace(furtherDiff, "+2", "+3", 1))),
		refusal: []string{"patched src/whisper.cpp of pin mine", "expected SHA-256 " + sum([]byte(ofWhisper))},
	},
	{
		name: "second further patch that leaves other bytes", fork: true, edit: withFork(withLast, func(w *world) {
			w.fork.pin.Patches[1].PatchedFiles[0].SHA256 = zeros
		}), refusal: []string{"patched src/lib.c of pin mine", "expected SHA-256 " + zeros},
	},
	{
		name: "further patch of a file that the manifest does not list", fork: true, edit: withFork(furtherAs(strings.ReplaceAll(furtherDiff, "src/lib.c", "src/new.c")), func(w *world) {
			w.fork.pin.Patches[0].PatchedFiles[0].Path = "src/new.c"
		}), refusal: []string{"further.patch of pin mine touches src/new.c", "manifest does not list"},
	},
	{
		name: "further patch that makes a file", fork: true, edit: withFork(furtherAs("diff --git a/n.c b/n.c\nnew file mode 100644\n--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+int n;\n")),
		refusal: []string{"line 2", "neither a file header nor a hunk"},
	},
	{
		name: "further patch with a digest in capitals", fork: true, edit: withFork(func(w *world) { w.fork.pin.Patches[0].SHA256 = strings.ToUpper(w.fork.pin.Patches[0].SHA256) }),
		refusal: []string{"patch //pins:further.patch of pin mine: expected 64 lower-case hexadecimal digits"},
	},
	{
		name: "further patch that is not there", fork: true, edit: withFork(func(w *world) { delete(w.fork.patches, "further.patch") }),
		refusal: []string{"further.patch"},
	},
	{
		name: "further patch of another repository", before: true, fork: true, edit: withFork(func(w *world) { w.fork.pin.Patches[0].Label = "@other//:further.patch" }),
		refusal: []string{"`label` must begin with `//`", "@other//:further.patch"},
	},

	// Words for what a user gets wrong.
	{name: "fork under upstream's name", before: true, edit: withFork(func(w *world) { w.fork.name = "whisper_cpp" }), refusal: []string{"whisper.fork: `name`", "whisper_cpp"}},
	{name: "fork with a capital in its name", before: true, edit: withFork(func(w *world) { w.fork.name = "Mine" }), refusal: []string{"whisper.fork: `name` must be lower-case letters", "Mine"}},
}
