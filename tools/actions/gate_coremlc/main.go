// Command gate_coremlc compiles a Core ML package with Xcode's coremlc.
//
//	gate_coremlc --package=DIR.mlpackage --out=DIR.mlmodelc --identity=FILE.json [--deadline=1h]
//
// Before coremlc starts, the memory that there is now is asked whether a compile can fit at all: what coremlc itself needs follows from
// nothing that is known here, so that the answer is a refusal (FIT_EXCEEDED) or "cannot tell", which is started. A coremlc that does not
// end by the deadline is ended, with all that it started.
//
// The identity names the Xcode that stands in the action's key: a machine with another one is refused.
// coremlc names its output after its input, so the two stems must agree. Only a full Xcode
// has coremlc: a machine with just the Command Line Tools is told so. It runs on macOS alone
// and was never run there by this project's own CI; its checks are tested with a stand-in xcrun.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/fit"
)

// budget is the memory that there is now; tests answer in its place.
var budget = fit.Now

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_coremlc", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pkg := flags.String("package", "", "the .mlpackage directory to compile")
	out := flags.String("out", "", "the .mlmodelc directory to make")
	identity := flags.String("identity", "", "the toolchain's identity, whose xcode_build has to be this machine's")
	deadline := flags.Duration("deadline", time.Hour, "how long coremlc may take")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := compile(*pkg, *out, *identity, *deadline); err != nil {
		fmt.Fprintf(stderr, "gate_coremlc: %s\n", reason.Visible(err.Error()))
		return 1
	}
	return 0
}

func compile(pkg, out, identity string, deadline time.Duration) error {
	if err := sameStem(pkg, out); err != nil {
		return err
	}
	if err := fullXcode(); err != nil {
		return err
	}
	if err := sameXcode(identity); err != nil {
		return err
	}
	if err := fit.Assess(fit.Need{Stage: fit.Compile}, budget(), fit.DefaultReserve).Refusal(); err != nil {
		return err
	}
	// Bazel has made the output directory; coremlc writes it itself, below its parent.
	parent := filepath.Dir(out)
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("clear %s: %w", out, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if _, err := xcrunWithin(ctx, "coremlc", "compile", pkg, parent); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("coremlc: expected an end within %s, found none: it was ended; a package that takes so long is too large for this machine, or coremlc hangs", deadline)
		}
		return err
	}
	if _, err := os.Stat(filepath.Join(out, "coremldata.bin")); err != nil {
		return fmt.Errorf("coremlc ended without an error but left no coremldata.bin in %s: %w", out, err)
	}
	return nil
}

// sameStem checks that coremlc, which names its output after its input, will write out.
func sameStem(pkg, out string) error {
	in, compiled := filepath.Base(pkg), filepath.Base(out)
	stem, isPackage := strings.CutSuffix(in, ".mlpackage")
	if !isPackage || stem == "" {
		return fmt.Errorf("--package must name a .mlpackage directory, found %q", pkg)
	}
	if compiled != stem+".mlmodelc" {
		return fmt.Errorf("coremlc names its output after its input: %s becomes %s.mlmodelc, but --out is %s; rename the package", in, stem, compiled)
	}
	return nil
}

// fullXcode checks that coremlc comes from inside an Xcode.app.
func fullXcode() error {
	path, err := xcrun("--find", "coremlc")
	if err != nil {
		return fmt.Errorf("find coremlc: %w; it comes with the full Xcode, not with the Command Line Tools: install Xcode and select it with xcode-select", err)
	}
	if !strings.Contains(path, ".app/Contents/Developer/") {
		return fmt.Errorf("coremlc must come from inside an Xcode.app, found %s: select a full Xcode with xcode-select or DEVELOPER_DIR", path)
	}
	return nil
}

// sameXcode holds the Xcode that the key names against the one that is here: its output must not enter a
// cache under another one's key.
func sameXcode(identity string) error {
	data, err := os.ReadFile(identity)
	if err != nil {
		return fmt.Errorf("read --identity: %w", err)
	}
	named := map[string]string{}
	if err := json.Unmarshal(data, &named); err != nil {
		return fmt.Errorf("identity %s: expected one object of strings: %w", identity, err)
	}
	version, err := xcrun("xcodebuild", "-version")
	if err != nil {
		return err
	}
	_, build, ok := strings.Cut(version, "Build version ")
	build = strings.TrimSpace(build)
	if !ok || build == "" {
		return fmt.Errorf("xcodebuild -version: expected `Build version …`, found %q", version)
	}
	if named["xcode_build"] != build {
		return fmt.Errorf("WORKER_IDENTITY: the action's key names Xcode build %q, this machine has %q: send it to a machine with that Xcode, "+
			"or correct the key (bazel fetch --configure, or the worker's core_ml_worker)", named["xcode_build"], build)
	}
	return nil
}

func xcrun(args ...string) (string, error) { return xcrunWithin(context.Background(), args...) }

// xcrunWithin ends what it started, and all that this started, when the context ends.
func xcrunWithin(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "xcrun", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("xcrun %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	if err != nil {
		return "", fmt.Errorf("run xcrun: %w", err)
	}
	return strings.TrimSpace(stdout.String()), nil
}
