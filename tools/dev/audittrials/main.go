// Command audittrials shows, with a real compiler, that an audit finds what was changed: it builds a receipt, changes one thing in a
// clean clone that enters whisper-cli, audits the receipt there, and expects the very difference to be named.
//
//	go run ./tools/dev/audittrials [--bazel=bazel] [--root=.] [--target=LABEL] [--run=REGEXP] [-- FLAGS OF BAZEL'S BUILD]
//
// Each change is a build from nothing, and takes as long as one: hence it stands in .ci/full. The clone has what is
// committed. The default target is a whole gate of one recording. The exit code is 0 if every change was found for what it
// is, 1 if one was not, 2 if it could not be tried.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/bindiff"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c checker
	flags := flag.NewFlagSet("audit check", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.bazel, "bazel", "bazel", "the Bazel to run")
	flags.StringVar(&c.root, "root", ".", "this project's source tree, a git clone")
	flags.StringVar(&c.target, "target", "//gate/experiments:private_receipt", "the receipt to audit")
	only := flags.String("run", "", "only changes whose name matches")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintf(stderr, "audittrials: --run: %v\n", err)
		return 2
	}
	c.flags = flags.Args()
	wrong, err := c.all(ctx, match, stdout)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "audittrials: could not be tried: %v\n", err)
		return 2
	case wrong > 0:
		return 1
	}
	return 0
}

// change is one edit of a clone, and what the audit has to say of it.
type change struct {
	name, file, from, to string
	// section is where whisper-cli has to differ, and what the kind of difference there; "" where nothing may be built.
	section, what string
	// says has to stand in Bazel's log where nothing may be built.
	says string
}

const overlay = "third_party/whisper_cpp/overlay/whisper_cpp.BUILD"

var changes = []change{
	{name: "define", file: overlay, from: `"WHISPER_VERSION=\\\"%{whisper_version}\\\""`, to: `"WHISPER_VERSION=\\\"0.0.0\\\""`, section: ".rodata", what: bindiff.Data},
	{name: "flag", file: overlay, from: `"-O3",`, to: `"-O2",`, section: ".text", what: bindiff.Code},
	{name: "patch", file: "patches/whisper_batch_zero_init.patch", from: "= {};", to: "{};", says: "whisper_batch_zero_init.patch"},
}

type checker struct {
	bazel, root, target string
	flags               []string
	statement           *statement.Statement
	cli, scratch        string
}

// all builds the receipt and tries the changes that match. It counts those that were not found.
func (c *checker) all(ctx context.Context, match *regexp.Regexp, stdout io.Writer) (wrong int, err error) {
	if c.scratch, err = os.MkdirTemp("", "audit-check-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.scratch)) }()
	if err := c.build(ctx); err != nil {
		return 0, err
	}
	tried := 0
	for _, x := range changes {
		if !match.MatchString(x.name) {
			continue
		}
		tried++
		told, err := c.try(ctx, x)
		if told == "" && err != nil {
			return wrong, fmt.Errorf("%s: %w", x.name, err)
		}
		if err != nil {
			wrong++
			told = fmt.Sprintf("NOT FOUND: %v\n%s", err, told)
		}
		fmt.Fprintf(stdout, "%s: %s\n", x.name, told)
	}
	if tried == 0 {
		return 0, errors.New("no change has such a name")
	}
	return wrong, nil
}

// build builds the receipt that is audited, and keeps its whisper-cli.
func (c *checker) build(ctx context.Context) error {
	if _, err := c.call(ctx, c.root, c.bazel, slices.Concat([]string{"build"}, c.flags, []string{c.target})...); err != nil {
		return err
	}
	files, err := c.call(ctx, c.root, c.bazel, slices.Concat([]string{"cquery", "--output=files"}, c.flags, []string{c.target})...)
	if err != nil {
		return err
	}
	execroot, err := c.call(ctx, c.root, c.bazel, slices.Concat([]string{"info"}, c.flags, []string{"execution_root"})...)
	if err != nil {
		return err
	}
	path := filepath.Join(execroot, files)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if c.statement, err = statement.Decode(data); err != nil {
		return err
	}
	spec, err := statement.ReadSpec(strings.TrimSuffix(path, ".json") + ".spec.json")
	if err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(execroot, spec.CLI))
	if err != nil {
		return err
	}
	c.cli = filepath.Join(c.scratch, "whisper-cli")
	return os.WriteFile(c.cli, program, 0o644)
}

// try makes one change and audits. It returns what the audit told, and an error if that is not what it has to tell; an
// error and no word if it could not be tried.
func (c *checker) try(ctx context.Context, x change) (told string, err error) {
	clone := filepath.Join(c.scratch, x.name)
	if _, err := c.call(ctx, c.root, "git", "clone", "--quiet", ".", clone); err != nil {
		return "", err
	}
	if err := edit(filepath.Join(clone, x.file), x.from, x.to); err != nil {
		return "", err
	}
	log, err := os.Create(filepath.Join(c.scratch, x.name+".log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	r, failed := audit.Run(ctx, audit.Request{Receipt: c.statement, Workspace: clone, Target: c.target, Bazel: c.bazel, Flags: c.flags, CLI: c.cli, Log: log})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	text, err := os.ReadFile(log.Name())
	if err != nil {
		return "", err
	}
	if x.section == "" {
		return refused(x, failed, string(text))
	}
	if failed != nil {
		return "", fmt.Errorf("%w:\n%s", failed, text)
	}
	return found(x, r)
}

// refused wants a build that did not happen, for the reason that the change gives.
func refused(x change, failed error, log string) (string, error) {
	line := ""
	for _, l := range strings.Split(log, "\n") {
		if _, after, ok := strings.Cut(l, x.says); ok && strings.Contains(after, "SHA-256") {
			line = x.says + after
		}
	}
	switch {
	case failed == nil:
		return "audited", errors.New("it was built")
	case line == "":
		return log, fmt.Errorf("%w, and not for what was changed", failed)
	}
	return "nothing was built: " + line, nil
}

// found wants both programs named, nothing else blamed, and the section.
func found(x change, r *audit.Result) (string, error) {
	var told strings.Builder
	blamed := map[string]bool{}
	for _, y := range r.Reasons {
		fmt.Fprintf(&told, "\n  %s", y)
		blamed[y.Code+" "+y.Where] = true
	}
	where := false
	for _, d := range r.Program {
		fmt.Fprintf(&told, "\n  %s", d)
		where = where || d.Section == x.section && d.What == x.what
	}
	want := map[string]bool{"REBUILT_DIFFERS subject " + statement.SubjectCLI: true, "REBUILT_DIFFERS material " + statement.MaterialContrastCLI: true}
	switch {
	case r.Verdict != reason.Failed:
		return told.String(), fmt.Errorf("the audit says %s, want %s", r.Verdict, reason.Failed)
	case !maps.Equal(blamed, want):
		return told.String(), errors.New("expected both programs to be named, and nothing else")
	case !where:
		return told.String(), fmt.Errorf("expected %s to differ in %s", x.what, x.section)
	}
	return "found" + told.String(), nil
}

// edit replaces the first place of a text.
func edit(path, from, to string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out := strings.Replace(string(data), from, to, 1)
	if out == string(data) {
		return fmt.Errorf("%s: %q does not stand there", path, from)
	}
	return os.WriteFile(path, []byte(out), 0o644)
}

// call runs a command and returns what it printed.
func (c *checker) call(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var errs strings.Builder
	cmd.Dir, cmd.Stderr = dir, &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, errs.String())
	}
	return strings.TrimSpace(string(out)), nil
}
