package reading

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/trace"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Run is what Instruments records: one start of whisper-cli.
type Run struct {
	// XCRun is the program that finds xctrace, normally xcrun.
	XCRun string
	// CLI, Model and Audio are files. The encoder is the one that whisper.cpp derives from the model's name, which must be there.
	CLI, Model, Audio, Language string
	// Folder is made for the recording: recording.json, toc.xml, intervals.xml, and Instruments' own run.trace.
	Folder   string
	Deadline time.Duration
}

// traceFile is Instruments' own bundle.
const traceFile = "run.trace"

// Record lets Instruments record a run by its Core ML template, without a screen, and exports what placement is judged from.
func Record(ctx context.Context, r Run) error {
	for _, path := range []*string{&r.CLI, &r.Model, &r.Audio, &r.Folder} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	encoder := whispercpp.EncoderPath(r.Model)
	about := placement.About{Schema: 1, Program: filepath.Base(r.CLI)}
	var err error
	if about.EncoderDigest, err = tree.Digest(encoder); err != nil {
		return fmt.Errorf("the encoder that whisper.cpp derives from the model's name: %w", err)
	}
	for path, to := range map[string]*string{r.CLI: &about.ProgramSHA256, r.Model: &about.ModelSHA256, r.Audio: &about.AudioSHA256} {
		if *to, _, err = tree.HashFile(path); err != nil {
			return err
		}
	}
	if err := os.Mkdir(r.Folder, 0o755); err != nil {
		return fmt.Errorf("a recording goes to a folder that is not there yet: %w", err)
	}
	bundle := filepath.Join(r.Folder, traceFile)
	limited, cancel := context.WithTimeout(ctx, r.Deadline)
	defer cancel()
	if err := xctrace(limited, r.XCRun, "record", "--template", trace.Template, "--output", bundle, "--no-prompt", "--launch", "--",
		r.CLI, "-m", r.Model, "-f", r.Audio, "-l", r.Language, "-t", "1", "-p", "1"); err != nil {
		return err
	}
	if err := export(limited, r, bundle); err != nil {
		return err
	}
	after, err := tree.Digest(encoder)
	if err != nil {
		return err
	}
	if after != about.EncoderDigest {
		return fmt.Errorf("%s: the encoder was %s before the run, and is %s now: leave it alone and record again", encoder, about.EncoderDigest, after)
	}
	return placement.WriteAbout(r.Folder, about)
}

// export writes the table of contents, and that table of Neural Engine intervals which the recording has.
func export(ctx context.Context, r Run, bundle string) error {
	contents := filepath.Join(r.Folder, placement.ContentsFile)
	if err := xctrace(ctx, r.XCRun, "export", "--input", bundle, "--toc", "--output", contents); err != nil {
		return err
	}
	data, err := os.ReadFile(contents)
	if err != nil {
		return err
	}
	c, err := trace.ParseContents(data)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(trace.Tables, func(name string) bool { return slices.Contains(c.Tables, name) })
	if i < 0 {
		return fmt.Errorf("%s has the tables %q, expected one of %q", bundle, c.Tables, trace.Tables)
	}
	xpath := fmt.Sprintf(`/trace-toc/run[@number="1"]/data/table[@schema="%s"]`, trace.Tables[i])
	return xctrace(ctx, r.XCRun, "export", "--input", bundle, "--xpath", xpath, "--output", filepath.Join(r.Folder, placement.IntervalsFile))
}

func xctrace(ctx context.Context, xcrun string, args ...string) error {
	cmd := exec.CommandContext(ctx, xcrun, append([]string{"xctrace"}, args...)...)
	// Instruments saves the environment of what it launches: hand on what it needs, and nothing that a person has set.
	for _, name := range []string{"HOME", "TMPDIR", "USER", "LOGNAME", "DEVELOPER_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, "PATH=/usr/bin:/bin:/usr/sbin:/sbin")
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said := strings.TrimSpace(string(out[max(0, len(out)-2048):]))
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return fmt.Errorf("xctrace %s: %w; it said: %s", args[0], ctx.Err(), said)
	}
	if errors.As(err, &exit) {
		return fmt.Errorf("xctrace %s ended with %s, saying: %s", args[0], exit, said)
	}
	return fmt.Errorf("start xctrace: %w: it is part of a full Xcode", err)
}
