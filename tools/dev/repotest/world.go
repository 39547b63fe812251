package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

var zeros = strings.Repeat("0", 64)

// upstream is a source tree that the rules take for whisper.cpp.
var upstream = map[string]string{
	"include/whisper.h": "int whisper(void);\n",
	"src/lib.c":         "int lib;\n",
	"src/whisper.cpp":   "one\nbatch;\ntwo\n",
}

const (
	patched = "one\nbatch = {};\ntwo\n"
	diff    = "diff --git a/src/whisper.cpp b/src/whisper.cpp\nindex 2a95bdb1..cfe4ce9b 100644\n" +
		"--- a/src/whisper.cpp\n+++ b/src/whisper.cpp\n@@ -1,3 +1,3 @@ x\n one\n-batch;\n+batch = {};\n two\n"
)

// world is everything that the rules read: the inputs as they stand in a case, and the workspace on disk.
type world struct {
	dir, root, bazel string

	source     map[string][]byte
	links      []tar.Header
	prefix     string
	archiveDir string
	zip        bool
	manifest   []byte
	patch      []byte
	model      []byte
	pins       []*pin.Pin
	env        map[string]string
	models     string
	// recording is a file of speech that the folder holds; sources is the list that pins it.
	recording []byte
	sources   string
	// rawPin replaces the first pin's file; conflict gives the root module two dependencies that want different
	// models under one name.
	rawPin   string
	conflict bool
	module   string
	fork     fork
	encoder  encoder
}

func newWorld(dir, root, bazel string) (*world, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, root: root, bazel: bazel}
	if err := w.reset(); err != nil {
		return nil, err
	}
	return w, w.writeRules()
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// reset makes the inputs good again.
func (w *world) reset() error {
	w.source = map[string][]byte{}
	var m pin.Manifest
	for _, path := range slices.Sorted(maps.Keys(upstream)) {
		w.source[path] = []byte(upstream[path])
		m = append(m, pin.Entry{Path: path, SHA256: sum(w.source[path])})
	}
	w.manifest, w.patch, w.model = m.Format(), []byte(diff), []byte("ggml model\n")
	w.prefix, w.archiveDir, w.zip, w.links = "whisper.cpp-0/", "archives", false, nil
	w.models = fmt.Sprintf(`{"small": {"file": "ggml-small.bin", "sha256": %q, "urls": []}}`, sum(w.model))
	w.recording = []byte("RIFF recording\n")
	w.pinSpeech("usr/share/a.wav", "")
	w.pins, w.rawPin, w.conflict = nil, "", false
	w.resetFork()
	w.resetEncoder()
	for _, name := range []string{"first", "second"} {
		w.pins = append(w.pins, &pin.Pin{
			Name: name, Commit: zeros[:40], Tree: zeros[:40], URLs: []string{"file:///nonexistent/archive.tar.gz"},
			Manifest:    pin.ManifestRef{File: "first.manifest", SHA256: sum(w.manifest)},
			Patch:       pin.PatchRef{Label: "//patches:the.patch", SHA256: sum(w.patch)},
			PatchedFile: pin.FileRef{Path: "src/whisper.cpp", SHA256: sum([]byte(patched))},
		})
	}
	w.env = map[string]string{"WHISPER_CPP_PIN": "", "WHISPER_CPP_ARCHIVE": "", "WHISPER_MODELS_DIR": filepath.Join(w.dir, "models"), "WHISPER_SPEECH_DIR": filepath.Join(w.dir, "speech")}
	w.env["WHISPER_CPP_ARCHIVE"] = "{archive}"
	for _, old := range []string{"archives", "checkout", "models", "speech", "encoders", "ws/pins/further.patch", "ws/pins/last.patch"} {
		if err := os.RemoveAll(filepath.Join(w.dir, old)); err != nil {
			return err
		}
	}
	return nil
}

// pinSpeech pins the recording under a path, with what stands before it in its address, if it has one.
func (w *world) pinSpeech(path, address string) {
	w.sources = fmt.Sprintf(`{"small": {"url_prefix": %q, "strip_prefix": "usr/", "files": {%q: %q}}}`, address, path, sum(w.recording))
}

// repin makes the pins agree with the patch as it is now.
func (w *world) repin() {
	for _, p := range w.pins {
		p.Patch.SHA256 = sum(w.patch)
	}
}

func (w *world) setManifest(data []byte) {
	w.manifest = data
	for _, p := range w.pins {
		p.Manifest.SHA256 = sum(data)
	}
}

// expand fills in what a case cannot know when it is written down.
func (w *world) expand(text string) string {
	return strings.NewReplacer(
		"{dir}", w.dir,
		"{archive}", w.archivePath(),
		"{manifest}", w.pins[0].Manifest.SHA256,
		"{patch}", w.pins[0].Patch.SHA256,
		"{source}", sum([]byte(upstream["src/lib.c"])),
		"{found}", sum(w.source["src/lib.c"]),
		"{recording}", sum([]byte("RIFF recording\n")),
		"{model}", sum([]byte("ggml model\n")),
		"{encoder}", sum([]byte(readyEncoder)),
		"{further}", sum([]byte(furtherDiff)),
	).Replace(text)
}

// expected is what of upstream must stand in the repository after a good fetch.
func (w *world) expected() map[string][]byte {
	want := map[string][]byte{"unpatched/src/whisper.cpp": []byte(upstream["src/whisper.cpp"])}
	for path, text := range upstream {
		want[path] = []byte(text)
	}
	want["src/whisper.cpp"] = []byte(patched)
	return want
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// writeRules lays out the workspace: the rules under test as they are, and a MODULE.bazel with this
// project's dependencies, since a machine's own bazelrc may override each of them.
func (w *world) writeRules() error {
	ws := filepath.Join(w.dir, "ws")
	module, err := os.ReadFile(filepath.Join(w.root, "MODULE.bazel"))
	if err != nil {
		return fmt.Errorf("read the project's dependencies: %w", err)
	}
	deps := regexp.MustCompile(`(?m)^bazel_dep\(.*\)$`).FindAllString(string(module), -1)
	text := "module(name = \"rules_coreml_gate\")\n" + strings.Join(deps, "\n") + `
whisper = use_extension("//gate:extensions.bzl", "whisper")
whisper.whisper_cpp(overlay = "//pins:overlay.BUILD", pins = ["//pins:first.json", "//pins:second.json"])
use_repo(whisper, "whisper_cpp", "whisper_models", "whisper_speech_small")
`
	w.module = text
	for path, content := range map[string]string{
		"BUILD.bazel": "", "gate/BUILD.bazel": "", "patches/BUILD.bazel": "",
		"pins/BUILD.bazel": "", "third_party/whisper_models/BUILD.bazel": "", "third_party/speech/BUILD.bazel": "",
		"third_party/whisper_cpp/pins/BUILD.bazel": "", "third_party/whisper_cpp/overlay/BUILD.bazel": "",
		"gate/defs.bzl":      archiveStub,
		"pins/overlay.BUILD": "exports_files([\"pin.json\"], visibility = [\"//visibility:public\"])\n",
	} {
		if err := writeFile(filepath.Join(ws, path), []byte(content)); err != nil {
			return err
		}
	}
	rules := os.DirFS(filepath.Join(w.root, "gate"))
	if err := os.CopyFS(filepath.Join(ws, "gate", "private", "repo"), sub(rules, "private/repo")); err != nil {
		return fmt.Errorf("copy the rules: %w", err)
	}
	extensions, err := fs.ReadFile(rules, "extensions.bzl")
	if err != nil {
		return fmt.Errorf("copy the rules: %w", err)
	}
	return writeFile(filepath.Join(ws, "gate", "extensions.bzl"), extensions)
}

func sub(f fs.FS, dir string) fs.FS {
	s, err := fs.Sub(f, dir)
	if err != nil {
		panic(err) // dir is a constant of this file
	}
	return s
}

// write puts the inputs of a case on disk.
func (w *world) write() error {
	out := map[string][]byte{
		"ws/patches/the.patch":                      w.patch,
		"ws/pins/first.manifest":                    w.manifest,
		"ws/third_party/whisper_models/models.json": []byte(w.models),
		"models/ggml-small.bin":                     w.model,
		"ws/third_party/speech/sources.json":        []byte(w.expand(w.sources)),
		"speech/usr/share/a.wav":                    w.recording,
	}
	for _, p := range w.pins {
		data, err := json.Marshal(p)
		if err != nil {
			return err
		}
		out["ws/pins/"+p.Name+".json"] = data
	}
	if w.rawPin != "" {
		out["ws/pins/first.json"] = []byte(w.rawPin)
	}
	for path, data := range w.source {
		out["checkout/"+path] = data
	}
	if err := w.writeFork(out); err != nil {
		return err
	}
	w.writeEncoder(out)
	w.writeModules(out)
	for path, data := range out {
		if err := writeFile(filepath.Join(w.dir, filepath.FromSlash(path)), data); err != nil {
			return err
		}
	}
	archive, err := pack(w.source, w.links, w.prefix, w.zip)
	if err != nil {
		return err
	}
	return writeFile(w.archivePath(), archive)
}

// writeModules adds the root module's file and, for a conflict, two modules that it depends on.
func (w *world) writeModules(out map[string][]byte) {
	text := w.module + w.fork.tag() + w.encoder.tag()
	if w.conflict {
		for _, name := range []string{"one", "two"} {
			text += fmt.Sprintf("bazel_dep(name = %q)\nlocal_path_override(module_name = %q, path = \"../%s\")\n", name, name, name)
			out[name+"/MODULE.bazel"] = []byte(fmt.Sprintf("module(name = %q)\nbazel_dep(name = \"rules_coreml_gate\")\n"+
				"whisper = use_extension(\"@rules_coreml_gate//gate:extensions.bzl\", \"whisper\")\n"+
				"whisper.whisper_model(name = \"shared\", file = \"ggml-%s.bin\", sha256 = %q)\n", name, name, zeros))
		}
	}
	out["ws/MODULE.bazel"] = []byte(text)
}

func (w *world) archivePath() string {
	name := "up.tar.gz"
	if w.zip {
		name = "up.zip"
	}
	return filepath.Join(w.dir, w.archiveDir, name)
}

// fetch asks Bazel for a target's package, which fetches its repository, and returns what Bazel said.
func (w *world) fetch(target string) (string, bool) {
	args := []string{"--output_base=" + w.outputBase(), "query", "--color=no", "--curses=no", "--lockfile_mode=off"}
	if target == "@whisper_models//:small" || target == "@whisper_encoders//:small" {
		target = "deps(" + target + ")"
	}
	for name, value := range w.env {
		args = append(args, "--repo_env="+name+"="+w.expand(value))
	}
	return w.run(append(args, target)...)
}

func (w *world) run(args ...string) (string, bool) {
	cmd := exec.Command(w.bazel, args...)
	cmd.Dir = filepath.Join(w.dir, "ws")
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		out = []byte(err.Error())
	}
	return string(out), err == nil
}

func (w *world) outputBase() string { return filepath.Join(w.dir, "output") }

// external is the folder of a repository that the extension makes: Bazel 7 parts its name by ~, later ones by +.
func (w *world) external(name string) string {
	for _, pattern := range []string{"*~" + name, "*+" + name} {
		if found, _ := filepath.Glob(filepath.Join(w.outputBase(), "external", pattern)); len(found) == 1 {
			return found[0]
		}
	}
	return filepath.Join(w.outputBase(), "external", "absent")
}

// repositoryFiles reads every file of a repository that the extension made.
func (w *world) repositoryFiles(name string) (map[string][]byte, error) {
	dir := w.external(name)
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the repository: %w", err)
	}
	return found, nil
}

// nothingLeft checks that a refused fetch of the named repository left no file that a build could use.
func (w *world) nothingLeft(name string) error {
	for _, usable := range []string{"BUILD.bazel", "_incoming", "include", "src", "unpatched", "pin.json", "ggml-small.bin", "small.mlmodelc.zip", "usr"} {
		if _, err := os.Lstat(filepath.Join(w.external(name), usable)); err == nil {
			return fmt.Errorf("a refused fetch left %s of %s behind", usable, name)
		}
	}
	return nil
}

// nothingPlanted checks that an archive which means harm put nothing outside of Bazel's folder, and, if it was
// taken all the same, nothing but what is pinned into the repository.
func (w *world) nothingPlanted(taken bool) error {
	var planted []string
	err := filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "evil.txt" && !strings.HasPrefix(path, w.outputBase()) {
			planted = append(planted, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(planted) > 0 {
		return fmt.Errorf("the archive planted %v", planted)
	}
	if taken {
		return exactlyPinned(w)
	}
	return nil
}

// close stops this world's own Bazel server and removes its files.
func (w *world) close() {
	w.run("--output_base="+w.outputBase(), "shutdown")
	_ = outputbase.Remove(w.dir)
}
