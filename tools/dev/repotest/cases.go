package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testCase is one fetch. With refusal empty it must succeed and pass check; otherwise it must fail,
// say each text of refusal (after [world.expand]) and none of silent, and leave nothing.
type testCase struct {
	name string
	// What is fetched instead of upstream's source: a model, a recording, a fork's source or a ready encoder.
	model, speech, fork, encoder bool
	// edit changes the good world before it is written.
	edit func(w *world) error
	// afterGood changes files on disk after one good fetch: what is fetched must not be believed.
	afterGood func(w *world) error
	refusal   []string
	silent    []string
	// harmless takes a fetch as well as a refusal, if nothing was planted.
	harmless bool
	// before says that the extension refuses, before there is a repository: what an earlier case fetched stands.
	before bool
	check  func(w *world) error
}

func (c testCase) target() string {
	switch {
	case c.model:
		return "@whisper_models//:small"
	case c.speech:
		return "@whisper_speech_small//:files"
	case c.fork:
		return "@mine//:pin.json"
	case c.encoder:
		return "@whisper_encoders//:small"
	}
	return "@whisper_cpp//:pin.json"
}

func (c testCase) repository() string {
	switch {
	case c.model:
		return "whisper_model_small"
	case c.speech:
		return "whisper_speech_small"
	case c.fork:
		return "mine"
	case c.encoder:
		return "whisper_encoder_small"
	}
	return "whisper_cpp"
}

func flip(data []byte) []byte {
	out := bytes.Clone(data)
	out[len(out)/2] ^= 1
	return out
}

// edits of the world, by name of what they spoil.
func spoilSource(w *world) error   { w.source["src/lib.c"] = flip(w.source["src/lib.c"]); return nil }
func spoilPatch(w *world) error    { w.patch = flip(w.patch); return nil }
func spoilManifest(w *world) error { w.manifest = flip(w.manifest); return nil }

func repin(edit func(w *world)) func(w *world) error {
	return func(w *world) error {
		edit(w)
		w.repin()
		return nil
	}
}

func flipFile(name func(w *world) string) func(w *world) error {
	return func(w *world) error {
		data, err := os.ReadFile(name(w))
		if err != nil {
			return err
		}
		return os.WriteFile(name(w), flip(data), 0o644)
	}
}

func in(parts ...string) func(w *world) string {
	return func(w *world) string { return filepath.Join(append([]string{w.dir}, parts...)...) }
}

func env(name, value string) func(w *world) error {
	return func(w *world) error { w.env[name] = w.expand(value); return nil }
}

func all(edits ...func(w *world) error) func(w *world) error {
	return func(w *world) error {
		for _, edit := range edits {
			if err := edit(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// exactlyPinned checks that the repository holds the manifest's files, as pinned, and no other of upstream's.
func exactlyPinned(w *world) error {
	found, err := w.repositoryFiles("whisper_cpp")
	if err != nil {
		return err
	}
	for path, want := range w.expected() {
		if got, ok := found[path]; !ok || !bytes.Equal(got, want) {
			return fmt.Errorf("%s in the repository: expected %q, found %q", path, want, got)
		}
		delete(found, path)
	}
	// The rule's own files, and those with which Bazel marks a repository's root.
	for _, ours := range []string{"BUILD.bazel", "REPO.bazel", "WORKSPACE", "compatibility.patch", "pin.json", "upstream.manifest"} {
		delete(found, ours)
	}
	if len(found) > 0 {
		return fmt.Errorf("files in the repository that no manifest names: %q", slices.Sorted(maps.Keys(found)))
	}
	return nil
}

func pinNamed(name string) func(w *world) error {
	return func(w *world) error {
		found, err := w.repositoryFiles("whisper_cpp")
		if err != nil {
			return err
		}
		if want := `"name": "` + name + `"`; !strings.Contains(string(found["pin.json"]), want) {
			return fmt.Errorf("pin.json: expected %s, found %s", want, found["pin.json"])
		}
		return nil
	}
}

func modelPresent(w *world) error {
	got, err := os.ReadFile(filepath.Join(w.external("whisper_model_small"), "ggml-small.bin"))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, w.model) {
		return fmt.Errorf("model: expected %q, found %q", w.model, got)
	}
	return nil
}

func speechPresent(w *world) error {
	got, err := os.ReadFile(filepath.Join(w.external("whisper_speech_small"), "usr", "share", "a.wav"))
	if err == nil && !bytes.Equal(got, w.recording) {
		err = fmt.Errorf("recording: expected %q, found %q", w.recording, got)
	}
	return err
}

// atAddress has no folder of recordings, and pins one at its own address.
func atAddress(w *world) error {
	w.env["WHISPER_SPEECH_DIR"] = ""
	w.pinSpeech("usr/share/a.wav", "file://{dir}/speech/usr/")
	return nil
}

// cases are all that are run, in their order.
var cases = slices.Concat(upstreamCases, forkCases, encoderCases)

var upstreamCases = []testCase{
	// What must work, wherever the bytes come from.
	{name: "archive", check: exactlyPinned},
	{name: "archive, no prefix", edit: func(w *world) error { w.prefix = ""; return nil }, check: exactlyPinned},
	{name: "archive, deep prefix", edit: func(w *world) error { w.prefix = "package/cpp/whisper.cpp/"; return nil }, check: exactlyPinned},
	{name: "archive, zip", edit: func(w *world) error { w.zip = true; return nil }, check: exactlyPinned},
	{name: "archive in a folder with odd characters", edit: func(w *world) error { w.archiveDir = "a b%20#c+d"; return nil }, check: exactlyPinned},
	{name: "checkout", edit: env("WHISPER_CPP_ARCHIVE", "{dir}/checkout"), check: exactlyPinned},
	{name: "extra files are ignored", edit: func(w *world) error {
		w.source["src/extra.c"] = []byte("int extra;\n")
		w.source["BUILD.bazel"] = []byte("syntax error(\n")
		w.source["src/BUILD"] = []byte("syntax error(\n")
		return nil
	}, check: exactlyPinned},
	{name: "the other pin", edit: env("WHISPER_CPP_PIN", "second"), check: pinNamed("second")},
	{name: "the first pin is the default", check: pinNamed("first")},

	// An archive that means harm: what it plants must not reach the repository. (Bazel's own unpacking follows `..`;
	// pins/README.md tells users to give a folder instead. The paths here stay below the world's folder.)
	{name: "archive with a link out", edit: func(w *world) error {
		w.links = []tar.Header{
			{Name: "whisper.cpp-0/src/out", Typeflag: tar.TypeSymlink, Linkname: filepath.Join(w.dir, "models")},
			{Name: "whisper.cpp-0/src/out/evil.txt", Mode: 0o644},
		}
		return nil
	}, harmless: true},
	{name: "archive with a parent path", edit: func(w *world) error {
		for _, name := range []string{"../src/evil.txt", "../../src/evil.txt", "../../include/evil.h"} {
			w.links = append(w.links, tar.Header{Name: name, Mode: 0o644})
		}
		return nil
	}, harmless: true, refusal: []string{"unpacked files outside of its own folder", "include"}},
	{name: "source is a link to another file", edit: func(w *world) error {
		w.links = []tar.Header{{Name: "whisper.cpp-0/src/lib.c", Typeflag: tar.TypeSymlink, Linkname: "/etc/hostname"}}
		delete(w.source, "src/lib.c")
		return nil
	}, harmless: true, refusal: []string{"src/lib.c"}},

	// The order of the checks, each with its words.
	{name: "manifest changed", edit: spoilManifest, refusal: []string{"content manifest of pin first", "expected SHA-256 {manifest}", "found"}},
	{name: "manifest before source", edit: all(spoilManifest, spoilSource), refusal: []string{"content manifest of pin first"}, silent: []string{"src/lib.c of pin"}},
	{
		name: "source changed", edit: spoilSource,
		refusal: []string{"src/lib.c of pin first, from archive", "expected SHA-256 {source}", "found {found}", "WHISPER_CPP_PIN"},
	},
	{name: "source before patch", edit: all(spoilSource, spoilPatch), refusal: []string{"src/lib.c of pin first"}, silent: []string{"patch @"}},
	{
		name: "source changed in a checkout", edit: all(spoilSource, env("WHISPER_CPP_ARCHIVE", "{dir}/checkout")),
		refusal: []string{"src/lib.c of pin first, from checkout", "expected SHA-256 {source}"},
	},
	{name: "source missing", edit: func(w *world) error { delete(w.source, "src/lib.c"); return nil }, refusal: []string{"lacks 1 file(s)", "src/lib.c"}},
	{
		name: "no source tree", edit: func(w *world) error { w.source = map[string][]byte{"README": []byte("other")}; return nil },
		refusal: []string{"holds no `src/whisper.cpp`"},
	},
	{name: "patch changed", edit: spoilPatch, refusal: []string{"patch", "//patches:the.patch of pin first", "expected SHA-256 {patch}"}},
	{
		name: "patch touches two files", edit: repin(func(w *world) {
			w.patch = append(bytes.Clone(w.patch), "diff --git a/src/lib.c b/src/lib.c\n--- a/src/lib.c\n+++ b/src/lib.c\n@@ -1 +1 @@\n-int lib;\n+int bil;\n"...)
		}), refusal: []string{"must touch exactly one file, `src/whisper.cpp`", "found 2: src/whisper.cpp, src/lib.c"},
	},
	{
		name: "patch touches another file", edit: repin(func(w *world) {
			w.patch = []byte("diff --git a/src/lib.c b/src/lib.c\n--- a/src/lib.c\n+++ b/src/lib.c\n@@ -1 +1 @@\n-int lib;\n+int bil;\n")
		}), refusal: []string{"must touch exactly one file, `src/whisper.cpp`", "found 1: src/lib.c"},
	},
	{
		name: "patch makes a file", edit: repin(func(w *world) {
			w.patch = []byte("diff --git a/n.c b/n.c\nnew file mode 100644\n--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+int n;\n")
		}), refusal: []string{"line 2", "neither a file header nor a hunk"},
	},
	{
		name: "patch hides a second file in a hunk that is too short", edit: repin(func(w *world) {
			w.patch = append(bytes.Clone(w.patch), "-int lib;\n"...)
		}), refusal: []string{"neither a file header nor a hunk"},
	},
	{name: "patch is empty", edit: repin(func(w *world) { w.patch = []byte("\n") }), refusal: []string{"found 0: none"}},
	{
		name: "patched file is not the pinned one", edit: func(w *world) error { w.pins[0].PatchedFile.SHA256 = strings.Repeat("0", 64); return nil },
		refusal: []string{"patched src/whisper.cpp of pin first", "expected SHA-256 " + strings.Repeat("0", 64)},
	},

	// What was fetched is not believed once its origin has changed.
	{name: "archive edited afterwards", afterGood: func(w *world) error {
		w.source["src/lib.c"] = flip(w.source["src/lib.c"])
		return w.write()
	}, refusal: []string{"src/lib.c of pin first"}},
	{
		name: "checkout edited afterwards", edit: env("WHISPER_CPP_ARCHIVE", "{dir}/checkout"),
		afterGood: flipFile(in("checkout", "src", "lib.c")), refusal: []string{"src/lib.c of pin first"},
	},
	{name: "patch edited afterwards", afterGood: flipFile(in("ws", "patches", "the.patch")), refusal: []string{"the.patch of pin first"}},
	{name: "manifest edited afterwards", afterGood: flipFile(in("ws", "pins", "first.manifest")), refusal: []string{"content manifest of pin first"}},

	// Words for what a user gets wrong.
	{name: "relative path", edit: env("WHISPER_CPP_ARCHIVE", "up.tar.gz"), refusal: []string{"WHISPER_CPP_ARCHIVE must be an absolute path"}},
	{name: "no such path", edit: env("WHISPER_CPP_ARCHIVE", "{dir}/absent"), refusal: []string{"absent`, which does not exist"}},
	{name: "unknown pin", before: true, edit: env("WHISPER_CPP_PIN", "third"), refusal: []string{"WHISPER_CPP_PIN is `third`", "first, second"}},
	{
		name: "nothing to download from", edit: env("WHISPER_CPP_ARCHIVE", ""),
		refusal: []string{"could not be downloaded from file:///nonexistent/archive.tar.gz", "WHISPER_CPP_ARCHIVE"},
	},
	{
		name: "manifest leaves the tree", edit: func(w *world) error { w.setManifest(append(w.manifest, zeros+"  z/../../x\n"...)); return nil },
		refusal: []string{"content manifest", "line 4", "sorted by path and unique"},
	},
	{
		name: "manifest with a path twice", edit: func(w *world) error { w.setManifest(append(w.manifest, w.manifest...)); return nil },
		refusal: []string{"content manifest", "line 4", "sorted by path and unique"},
	},

	{name: "pin is no JSON", before: true, edit: func(w *world) error { w.rawPin = "{"; return nil }, refusal: []string{"expected a JSON object with exactly the fields name, commit"}},
	{name: "pin with another field", before: true, edit: func(w *world) error { w.rawPin = `{"name": "first", "comment": ""}`; return nil }, refusal: []string{"exactly the fields", "found name, comment"}},
	{
		name: "digest in capitals", edit: func(w *world) error { w.pins[0].Patch.SHA256 = strings.ToUpper(w.pins[0].Patch.SHA256); return nil },
		refusal: []string{"patch of pin first: expected 64 lower-case hexadecimal digits"},
	},
	{name: "two modules disagree", before: true, edit: func(w *world) error { w.conflict = true; return nil }, refusal: []string{"`shared` is asked for by modules one and two"}},

	// Models, same manners.
	{name: "model", model: true, check: modelPresent},
	{name: "model changed", model: true, edit: func(w *world) error { w.model = flip(w.model); return nil }, refusal: []string{"model ggml-small.bin", "expected SHA-256 {model}", "LFS pointer"}},
	{name: "model changed afterwards", model: true, afterGood: flipFile(in("models", "ggml-small.bin")), refusal: []string{"model ggml-small.bin", "expected SHA-256 {model}"}},
	{name: "model missing", model: true, edit: env("WHISPER_MODELS_DIR", "{dir}/checkout"), refusal: []string{"ggml-small.bin", "WHISPER_MODELS_DIR"}},
	{name: "model without a folder", model: true, edit: env("WHISPER_MODELS_DIR", ""), refusal: []string{"WHISPER_MODELS_DIR is not set"}},
	{
		name: "model with a path for a name", model: true, edit: func(w *world) error {
			w.models = strings.Replace(w.models, "ggml-small.bin", "x/ggml-small.bin", 1)
			return nil
		},
		refusal: []string{"`file` must be a plain file name that ends in `.bin`"},
	},
	{
		name: "model that cannot be downloaded", model: true, edit: all(env("WHISPER_MODELS_DIR", ""), func(w *world) error {
			// A digest that Bazel's cache cannot know.
			w.models = fmt.Sprintf(`{"small": {"file": "ggml-small.bin", "sha256": %q, "urls": ["file:///nonexistent/m.bin"]}}`, zeros)
			return nil
		}), refusal: []string{"model ggml-small.bin with SHA-256 " + zeros, "could not be downloaded from file:///nonexistent/m.bin", "WHISPER_MODELS_DIR"},
	},

	// Recordings, same manners.
	{name: "recording", speech: true, check: speechPresent},
	{name: "recording at its address", speech: true, edit: atAddress, check: speechPresent},
	{name: "recording changed", speech: true, edit: func(w *world) error { w.recording = flip(w.recording); return nil }, refusal: []string{"recording usr/share/a.wav", "expected SHA-256 {recording}"}},
	{name: "recording changed afterwards", speech: true, afterGood: flipFile(in("speech", "usr", "share", "a.wav")), refusal: []string{"recording usr/share/a.wav", "expected SHA-256 {recording}"}},
	{name: "recording that cannot be downloaded", speech: true, edit: all(atAddress, func(w *world) error {
		// A digest that Bazel's cache cannot know.
		w.sources = strings.Replace(w.sources, sum(w.recording), zeros, 1)
		return nil
	}), refusal: []string{"recording usr/share/a.wav with SHA-256 " + zeros, "could not be downloaded from file://", "WHISPER_SPEECH_DIR"}},
	{name: "recording without a folder", speech: true, edit: env("WHISPER_SPEECH_DIR", ""), refusal: []string{"recording usr/share/a.wav has no address", "WHISPER_SPEECH_DIR is not set"}},
	{name: "recording missing", speech: true, edit: env("WHISPER_SPEECH_DIR", "{dir}/checkout"), refusal: []string{"recording usr/share/a.wav", "does not hold it"}},
	{name: "recording with a path that leads out", speech: true, edit: func(w *world) error { w.pinSpeech("../a.wav", ""); return nil }, refusal: []string{"a path must be relative and plain"}},
}
