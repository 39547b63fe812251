// Package pin ties what a build compiles to one revision of upstream whisper.cpp.
//
// A pin (third_party/whisper_cpp/pins/<name>.json) names a commit, its git tree, a content manifest, a
// compatibility patch and the file that the patch changes. Three formats are implemented here.
//
// Content manifest. One line for each file, `<digest>  <path>` and an LF: the digest is SHA-256 in 64
// lower-case hexadecimal digits, two spaces follow, the path is relative with forward slashes, has
// no empty, `.` or `..` segment and no LF. Lines are sorted by the bytes of the path, and no path stands
// twice. The manifest's own digest is the SHA-256 of these bytes. `sha256sum -c` reads it.
//
// Git objects, in SHA-1. An object's id is the hash of `<type> <length>\0<content>`. A tree's content is its
// entries, each `<mode> <name>\0` and the 20 bytes of the entry's id, sorted by the bytes of the name,
// where the name of a folder counts as if it ended in a slash. Ids are recomputed here from content and
// compared, so a clone is not believed, only read.
//
// Patch. A git diff that edits exactly one existing text file: no other header, no rename, no mode, no
// binary data. It is applied to a buffer, each hunk exactly at the line that it names.
package pin
