// Package trial builds and runs a proposed revision of upstream with Bazel, unpatched.
//
// It writes what takes the place of the repository @whisper_cpp: the candidate's own files, this project's BUILD file, and
// the identity of a pin that is not supported. Where the patched file would be stands upstream's. Then Bazel builds
// the targets that it always builds: the repeated negative control (//gate:patch_ab_report, both of whose arms are now
// the unpatched candidate), one run through the Core ML encoder and one through ggml's.
//
// The BUILD file names sources by the supported pin's list. A candidate that lacks one of them, or needs one more, does
// not build, and what it was not built for was not run.
package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// Config is what to build, and with what.
type Config struct {
	// Source is the candidate, Commit its full id.
	Source pin.Source
	Commit string
	// Supported is the pin by whose list of files, SupportedManifest, the build goes.
	Supported         *pin.Pin
	SupportedManifest pin.Manifest
	// Workspace is a checkout of this project; Bazel is the program.
	Workspace, Bazel string
	// Log takes what Bazel says.
	Log io.Writer
}

// Result is what was run.
type Result struct {
	// Control are the rows of the negative control.
	Control []ab.Row
	// Evidence are the files of the two positive runs.
	Evidence []string
}

// NotBuilt says why a candidate was not built; that is an answer and no failure.
type NotBuilt struct{ Why string }

// Error implements error.
func (e *NotBuilt) Error() string { return e.Why }

const (
	overlay   = "third_party/whisper_cpp/overlay/whisper_cpp.BUILD"
	apparent  = "whisper_cpp"
	unpatched = "unpatched"
	patchFile = "compatibility.patch"
	control   = "//gate:patch_ab_report"
)

// Run builds and runs. A [*NotBuilt] says that the candidate has another list of files or does not compile.
func Run(ctx context.Context, c Config) (*Result, error) {
	if _, err := os.Stat(filepath.Join(c.Workspace, overlay)); err != nil {
		return nil, fmt.Errorf("--build wants a checkout of this project as --workspace: %w", err)
	}
	dir, err := os.MkdirTemp("", "candidate")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	name, err := c.canonical(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.write(dir, name); err != nil {
		return nil, err
	}
	override := "--override_repository=" + name + "=" + dir
	targets := []string{control, "//gate:coreml_run", "//gate:contrast_run"}
	if _, err := c.bazel(ctx, append([]string{"build", override, "--output_groups=+json"}, targets...)...); err != nil {
		return nil, &NotBuilt{fmt.Sprintf("Bazel does not build it by the list of files of pin %s (%v): its output says what is missing", c.Supported.Name, err)}
	}
	return c.collect(ctx, override, targets)
}

// collect reads the outputs.
func (c *Config) collect(ctx context.Context, override string, targets []string) (*Result, error) {
	root, err := c.bazel(ctx, "info", "execution_root")
	if err != nil {
		return nil, err
	}
	listing, err := c.bazel(ctx, "cquery", override, "--output_groups=+json", "--output=files", strings.Join(targets, " + "))
	if err != nil {
		return nil, err
	}
	r := &Result{}
	for _, line := range strings.Fields(string(listing)) {
		path := filepath.Join(strings.TrimSpace(string(root)), line)
		switch {
		case strings.HasSuffix(path, ".evidence.json"):
			r.Evidence = append(r.Evidence, path)
		case strings.HasSuffix(path, "patch_ab_report.json"):
			if r.Control, err = readControl(path); err != nil {
				return nil, err
			}
		}
	}
	if len(r.Evidence) != 2 || len(r.Control) == 0 {
		return nil, fmt.Errorf("expected evidence of two runs and a control among Bazel's outputs, found %d and %d rows in: %s", len(r.Evidence), len(r.Control), listing)
	}
	return r, nil
}

// readControl takes the rows of both arms together: with a candidate in place of the pin, both are unpatched.
func readControl(path string) ([]ab.Row, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the control: %w", err)
	}
	var report ab.Report
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, fmt.Errorf("read the control: %w", err)
	}
	rows := slices.DeleteFunc(report.Rows, func(r ab.Row) bool { return r.Arm != "unpatched" })
	return rows, nil
}

// canonical is Bazel's own name of the repository that is put aside.
func (c *Config) canonical(ctx context.Context) (string, error) {
	out, err := c.bazel(ctx, "mod", "dump_repo_mapping", "")
	if err != nil {
		return "", err
	}
	var names map[string]string
	if err := json.Unmarshal(out, &names); err != nil || names[apparent] == "" {
		return "", fmt.Errorf("bazel mod dump_repo_mapping: expected a name for %s (%v), found %.200q", apparent, err, out)
	}
	return names[apparent], nil
}

func (c *Config) bazel(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Bazel, args...)
	cmd.Dir, cmd.Stderr = c.Workspace, c.Log
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("bazel %s: %w", args[0], err)
	}
	return out, nil
}

// write makes the folder that takes the place of the repository, which Bazel calls by the given name.
func (c *Config) write(dir, repository string) error {
	nodes, err := c.Source.Nodes()
	if err != nil {
		return err
	}
	tree, err := pin.TreeID(nodes)
	if err != nil {
		return err
	}
	paths, err := c.paths(nodes)
	if err != nil {
		return err
	}
	manifest, err := pin.MakeManifest(c.Source, paths)
	if err != nil {
		return err
	}
	// A candidate is built as it is: the overlay names a patch, and none was applied.
	files := map[string][]byte{"REPO.bazel": nil, patchFile: nil, "upstream.manifest": manifest.Format()}
	for _, path := range paths {
		if files[path], err = c.Source.Read(path); err != nil {
			return err
		}
	}
	patched := c.Supported.PatchedFile.Path
	files[unpatched+"/"+patched] = files[patched]
	identity := pin.Identity{
		Name: "candidate", Commit: c.Commit, Tree: tree, ManifestSHA256: manifest.Digest(), Patch: c.Supported.Patch,
		PatchedFile: pin.FileRef{Path: patched, SHA256: pin.Digest(files[patched])},
	}
	if files["pin.json"], err = json.MarshalIndent(identity, "", "  "); err != nil {
		return err
	}
	if files["BUILD.bazel"], err = c.buildFile(repository); err != nil {
		return err
	}
	for path, data := range files {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// paths are the files that go into the build: the supported pin's, which all have to be there, and every file beside one
// of them that a compiler may read.
func (c *Config) paths(nodes []pin.Node) ([]string, error) {
	folders := map[string]bool{}
	wanted := map[string]bool{}
	for _, path := range c.SupportedManifest.Paths() {
		wanted[path] = true
		folders[filepath.Dir(path)] = true
	}
	var out []string
	for _, n := range nodes {
		regular := n.Mode == pin.ModeFile || n.Mode == pin.ModeExecutable
		source := slices.Contains([]string{".h", ".hpp", ".c", ".cpp", ".m", ".mm", ".metal"}, filepath.Ext(n.Path))
		if regular && (wanted[n.Path] || source && folders[filepath.Dir(n.Path)]) {
			out = append(out, n.Path)
			delete(wanted, n.Path)
		}
	}
	if len(wanted) > 0 {
		missing := slices.Sorted(maps.Keys(wanted))
		return nil, &NotBuilt{fmt.Sprintf("it lacks %d of the files that the build of pin %s names, such as %s", len(missing), c.Supported.Name, missing[0])}
	}
	slices.Sort(out)
	return out, nil
}

// buildFile is this project's BUILD file for upstream, with the versions that the candidate's CMake files say.
func (c *Config) buildFile(repository string) ([]byte, error) {
	template, err := os.ReadFile(filepath.Join(c.Workspace, overlay))
	if err != nil {
		return nil, fmt.Errorf("read the overlay: %w", err)
	}
	v := pin.ReadVersions(c.Source, c.Commit)
	return []byte(strings.NewReplacer(
		"%{root}", "external/"+repository, "%{ggml_version}", v.GGML, "%{ggml_commit}", v.GGMLCommit,
		"%{whisper_version}", v.Whisper, "%{patched_file}", c.Supported.PatchedFile.Path,
		"%{patch}", patchFile, "%{patches}", "[]",
	).Replace(string(template))), nil
}
