package audit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/audit/outputbase"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// build is a finished build in an output base of its own.
type build struct {
	bazel, workspace, base string
	log                    *os.File
	remove                 bool
	statement              *statement.Statement
	spec                   *statement.Spec
}

// alone keeps a build from taking anything that was built elsewhere or before: an audit that is served
// from a cache shows nothing. It stands last on the command line, where nothing overrides it.
var alone = []string{"--disk_cache=", "--remote_cache=", "--remote_executor="}

// label is an absolute label of one target. The audited receipt's own name goes to Bazel, and whoever wrote the
// receipt must not be able to write flags.
var label = regexp.MustCompile(`^(@{1,2}[A-Za-z0-9._~+-]*)?//[A-Za-z0-9/._~+@=,-]*(:[A-Za-z0-9/._~+@=,-]+)?$`)

// rebuild builds the receipt's target in a clean output base.
func rebuild(ctx context.Context, q Request) (*build, error) {
	b := &build{bazel: q.Bazel, workspace: q.Workspace, base: q.OutputBase, log: q.Log}
	if b.bazel == "" {
		b.bazel = "bazel"
	}
	target := q.Target
	if target == "" {
		target = q.Receipt.Predicate.Name
	}
	if !label.MatchString(target) || strings.Contains(target, "...") {
		return nil, fmt.Errorf("target %q: expected the label of one receipt, such as //gate:receipt", target)
	}
	if b.base == "" {
		dir, err := os.MkdirTemp("", "coregate-audit-")
		if err != nil {
			return nil, err
		}
		b.base, b.remove = dir, true
	} else if entries, err := os.ReadDir(b.base); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("output base %s is not empty: an audit builds from nothing; name a new directory", b.base)
	}
	if err := b.run(ctx, target, append(slices.Clone(q.Flags), alone...)); err != nil {
		b.close(ctx)
		return nil, err
	}
	return b, nil
}

func (b *build) run(ctx context.Context, target string, flags []string) error {
	if _, err := b.call(ctx, append(append([]string{"build"}, flags...), target)...); err != nil {
		return fmt.Errorf("rebuild %s: %w", target, err)
	}
	out, err := b.call(ctx, append(append([]string{"cquery"}, flags...), "--output=files", target)...)
	if err != nil {
		return fmt.Errorf("find what %s built: %w", target, err)
	}
	files := strings.Fields(out)
	if len(files) != 1 || !strings.HasSuffix(files[0], ".json") {
		return fmt.Errorf("target %s builds %v: expected one receipt (.json)", target, files)
	}
	root, err := b.call(ctx, append(append([]string{"info"}, flags...), "execution_root")...)
	if err != nil {
		return fmt.Errorf("find the execution root: %w", err)
	}
	root = strings.TrimSpace(root)
	data, err := os.ReadFile(filepath.Join(root, files[0]))
	if err != nil {
		return fmt.Errorf("read the rebuilt receipt: %w", err)
	}
	if b.statement, err = statement.Decode(data); err != nil {
		return fmt.Errorf("the rebuilt receipt: %w", err)
	}
	b.spec, err = readSpec(filepath.Join(root, strings.TrimSuffix(files[0], ".json")+".spec.json"), root)
	return err
}

// call runs one Bazel command in the workspace and returns its standard output.
func (b *build) call(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.bazel, append([]string{"--output_base=" + b.base}, args...)...)
	cmd.Dir, cmd.Stderr = b.workspace, b.log
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", filepath.Base(b.bazel), args[0], err)
	}
	return string(out), nil
}

// close stops the build's server and removes an output base that was temporary.
func (b *build) close(ctx context.Context) {
	// Whatever cancelled the audit must not keep its server running.
	_, _ = b.call(context.WithoutCancel(ctx), "shutdown")
	if !b.remove {
		return
	}
	_ = outputbase.Remove(b.base)
}
