// Command bridges runs the gate on tiny.en through our double of the bridge and through upstream's own, and holds what was seen
// line by line.
//
//	go run ./tools/dev/bridges [-folder DIR]
//
// For each bridge it runs the gate's tests (markers, canary, contrast, transcript, and words on two recordings) with
// --//third_party/whisper_cpp:bridge, and takes the evidence of every run. What may differ is what says which bridge it was: the lane's
// identity, whisper-cli's digest, and the lines on stderr that begin with the bridge's name. It prints every other
// difference and exits 1 if there is one, or if a test failed; 2 if it could not compare. -folder keeps the evidence.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

var bridges = []string{"double", "upstream"}

// What is tested, and what is built for its evidence.
var (
	tests = []string{
		"//gate:markers_test", "//gate:canary_test", "//gate:contrast_test", "//gate:transcript_test", "//gate/experiments:two_recordings_words_test",
	}
	runs = []string{"//gate:coreml_run", "//gate:canary_run", "//gate:contrast_run", "//gate/experiments:two_recordings_words"}
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("bridges", flag.ContinueOnError)
	f.SetOutput(stderr)
	folder := f.String("folder", "", "keep the evidence here; a temporary folder if empty")
	if err := f.Parse(args); err != nil || f.NArg() > 0 {
		return 2
	}
	if *folder == "" {
		made, err := os.MkdirTemp("", "bridges-")
		if err != nil {
			fmt.Fprintln(stderr, "bridges:", err)
			return 2
		}
		defer os.RemoveAll(made)
		*folder = made
	}
	failed := false
	for _, bridge := range bridges {
		ok, err := gate(bridge, filepath.Join(*folder, bridge), stderr)
		if err != nil {
			fmt.Fprintf(stderr, "bridges: %s: %v\n", bridge, err)
			return 2
		}
		failed = failed || !ok
	}
	different, lines, err := compareFolders(filepath.Join(*folder, bridges[0]), filepath.Join(*folder, bridges[1]), stdout)
	if err != nil {
		fmt.Fprintln(stderr, "bridges:", err)
		return 2
	}
	fmt.Fprintf(stdout, "%d lines of evidence through %s and %s, %d differ\n", lines, bridges[0], bridges[1], different)
	if failed || different > 0 {
		return 1
	}
	return 0
}

// gate runs the tests through one bridge and copies their evidence. It returns false if a test failed.
func gate(bridge, dest string, stderr io.Writer) (bool, error) {
	flag := "--//third_party/whisper_cpp:bridge=" + bridge
	bazel := func(args ...string) ([]byte, error) {
		cmd := exec.Command("bazel", args...)
		cmd.Stderr = stderr
		return cmd.Output()
	}
	if out, err := bazel(append([]string{"build", flag, "--output_groups=+evidence"}, runs...)...); err != nil {
		return false, fmt.Errorf("cannot build its evidence: %w: %s", err, out)
	}
	bin, err := bazel("info", flag, "bazel-bin")
	if err != nil {
		return false, err
	}
	for _, label := range runs {
		path := strings.Replace(strings.TrimPrefix(label, "//"), ":", "/", 1)
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(bin)), path+".evidence.json"))
		words, werr := filepath.Glob(filepath.Join(strings.TrimSpace(string(bin)), path+".evidence", "*evidence*.json"))
		if err != nil || werr != nil || len(files)+len(words) == 0 {
			return false, fmt.Errorf("%s: expected evidence beside %s, found none", label, path)
		}
		for _, file := range append(files, words...) {
			name := strings.ReplaceAll(path, "/", "_") + "." + filepath.Base(file)
			if err := copyFile(file, filepath.Join(dest, name)); err != nil {
				return false, err
			}
		}
	}
	out, err := bazel(append([]string{"test", flag, "--test_output=errors"}, tests...)...)
	if err != nil {
		fmt.Fprintf(stderr, "bridges: %s: a test failed:\n%s", bridge, out)
	}
	return err == nil, nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// compareFolders prints the lines in which files of the same name differ, and counts those and all.
func compareFolders(a, b string, stdout io.Writer) (different, lines int, err error) {
	names := [2][]string{}
	for i, dir := range []string{a, b} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range entries {
			names[i] = append(names[i], e.Name())
		}
	}
	if !slices.Equal(names[0], names[1]) {
		return 0, 0, fmt.Errorf("%s holds %q and %s holds %q: expected the same files", a, names[0], b, names[1])
	}
	for _, name := range names[0] {
		x, err := compared(filepath.Join(a, name))
		if err != nil {
			return 0, 0, err
		}
		y, err := compared(filepath.Join(b, name))
		if err != nil {
			return 0, 0, err
		}
		lines += max(len(x), len(y))
		for i := range max(len(x), len(y)) {
			if p, q := line(x, i), line(y, i); p != q {
				different++
				fmt.Fprintf(stdout, "%s, line %d\n  %s: %s\n  %s: %s\n", name, i+1, bridges[0], p, bridges[1], q)
			}
		}
	}
	return different, lines, nil
}

func line(lines []string, i int) string {
	if i >= len(lines) {
		return "(none)"
	}
	return lines[i]
}

// compared is the lines of a file of evidence without what says which bridge it was.
func compared(path string) ([]string, error) {
	e, _, err := evidence.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e.LaneIdentity, e.Digests.CLI, e.Stderr.SHA256 = nil, "", ""
	e.Stderr.Lines = slices.DeleteFunc(e.Stderr.Lines, func(line string) bool {
		l, ok := whispercpp.ReadLine(line)
		return ok && l.Kind == whispercpp.LineDouble
	})
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(e); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n"), nil
}
