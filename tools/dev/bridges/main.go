// Command bridges runs the gate on tiny.en through our double of the bridge and through upstream's own, and compares what was seen
// line by line.
//
//	go run ./tools/dev/bridges [-folder DIR] [-within DURATION]
//
// For each bridge it runs the gate's tests (markers, canary, contrast, transcript, and words on two recordings) with
// --//third_party/whisper_cpp:bridge, and takes the evidence of every run. What may differ is what says which bridge it was: the
// lane's identity, whisper-cli's digest, the name at the start of a bridge's own lines, and how upstream's bridge writes a relative
// path. It prints every other difference and exits 1 if there is one, or if a test failed; 2 if it could not compare, or if Bazel took
// longer than -within. -folder keeps the evidence.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

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
	within := f.Duration("within", time.Hour, "stop Bazel after this long")
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
	ctx, cancel := context.WithTimeout(context.Background(), *within)
	defer cancel()
	failed := false
	for _, bridge := range bridges {
		ok, err := gate(ctx, bridge.name, filepath.Join(*folder, bridge.name), stderr)
		if err != nil {
			fmt.Fprintf(stderr, "bridges: %s: %v\n", bridge.name, err)
			return 2
		}
		failed = failed || !ok
	}
	different, lines, err := compareFolders(*folder, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "bridges:", err)
		return 2
	}
	fmt.Fprintf(stdout, "%d lines of evidence through %s and %s, %d differ\n", lines, bridges[0].name, bridges[1].name, different)
	if failed || different > 0 {
		return 1
	}
	return 0
}

// gate runs the tests through one bridge and copies their evidence. It returns false if a test failed.
func gate(ctx context.Context, bridge, dest string, stderr io.Writer) (bool, error) {
	flag := "--//third_party/whisper_cpp:bridge=" + bridge
	bazel := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "bazel", args...)
		// Bazel's client ends the build when it is interrupted; killed, it would leave it running.
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = time.Minute
		cmd.Stderr = stderr
		out, err := cmd.Output()
		if ctx.Err() != nil {
			return out, fmt.Errorf("bazel %s was stopped: it took longer than -within", args[0])
		}
		return out, err
	}
	if out, err := bazel(append([]string{"build", flag, "--noshow_progress", "--output_groups=+evidence"}, runs...)...); err != nil {
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
	out, err := bazel(append([]string{"test", flag, "--noshow_progress", "--test_output=errors"}, tests...)...)
	if ctx.Err() != nil {
		return false, err
	}
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
