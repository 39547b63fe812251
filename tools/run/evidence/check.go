package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// SHA256 returns the lower-case hexadecimal SHA-256 of data.
func SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Check says whether e is well formed: known words, digests that are digests, counts that agree.
// It judges nothing about the run.
func (e *Evidence) Check() error {
	if e.Schema != Schema {
		return fmt.Errorf("evidence: schema is %d, expected %d", e.Schema, Schema)
	}
	switch e.Kind {
	case KindCoreML, KindCanary, KindContrast:
	default:
		return fmt.Errorf("evidence: kind is %q, expected coreml, canary or contrast", e.Kind)
	}
	switch e.Lane {
	case LanePhysical, LaneEmulated:
	default:
		return fmt.Errorf("evidence: lane is %q, expected physical or emulated", e.Lane)
	}
	digests := map[string]string{
		"digests.cli": e.Digests.CLI, "digests.model": e.Digests.Model, "digests.audio": e.Digests.Audio,
		"pin.manifest_sha256": e.Pin.ManifestSHA256, "pin.patch.sha256": e.Pin.Patch.SHA256,
		"pin.patched_file.sha256": e.Pin.PatchedFile.SHA256,
		"stderr.sha256":           e.Stderr.SHA256, "stdout.sha256": e.Stdout.SHA256,
	}
	if e.Digests.Encoder != nil {
		digests["digests.encoder"] = *e.Digests.Encoder
	}
	if e.Digests.Evaluator != nil {
		digests["digests.evaluator"] = *e.Digests.Evaluator
	}
	for _, name := range sortedKeys(digests) {
		if !hexDigest.MatchString(digests[name]) {
			return fmt.Errorf("evidence: %s is %q, expected 64 hexadecimal digits in lower case", name, digests[name])
		}
	}
	if (e.Kind == KindCoreML) != (e.Digests.Encoder != nil) {
		return fmt.Errorf("evidence: a %s run with encoder digest %v: coreml runs have one and no others", e.Kind, e.Digests.Encoder != nil)
	}
	// A token tells a second start from the first, and no third from the second.
	if e.Attempts < 1 || e.Attempts > 2 || e.WarmUps < 0 || e.WarmUps > 1 {
		return fmt.Errorf("evidence: %d attempts and %d warm-ups, expected 1 or 2, and at most 1", e.Attempts, e.WarmUps)
	}
	if e.Stdout.Complete != e.Public || e.Stderr.Complete != e.Public || e.Public && e.Words != nil {
		return fmt.Errorf("evidence: public is %v, with all lines of stdout %v, of stderr %v, and a count of words %v: public evidence has all lines and no count, other evidence no line of stdout",
			e.Public, e.Stdout.Complete, e.Stderr.Complete, e.Words != nil)
	}
	if e.Attempt < 0 || e.Attempt != 0 && e.Kind != KindCoreML {
		return fmt.Errorf("evidence: a %s run asked for again as attempt %d: only a positive run can be", e.Kind, e.Attempt)
	}
	if e.Normalisation != NormalisationVersion {
		return fmt.Errorf("evidence: normalisation rules %d, expected %d", e.Normalisation, NormalisationVersion)
	}
	if err := e.Exit.check(); err != nil {
		return err
	}
	if err := e.Stderr.check("stderr"); err != nil {
		return err
	}
	if e.Heard != nil {
		if err := e.Heard.check(); err != nil {
			return fmt.Errorf("evidence: %w", err)
		}
	}
	return e.Stdout.check("stdout")
}

func (x Exit) check() error {
	if x.OOMKilled && (x.Kind != ExitSignal || x.Signal != 9) {
		return fmt.Errorf("evidence: exit is %+v: the system kills for memory by signal 9 only", x)
	}
	ok := false
	switch x.Kind {
	case ExitCode:
		ok = x.Code >= 0 && x.Code <= 255 && x.Signal == 0
	case ExitSignal:
		ok = x.Code == 0 && x.Signal > 0 && x.Signal < 128
	case ExitTimeout, ExitMemory:
		ok = x.Code == 0 && x.Signal == 0
	}
	if !ok {
		return fmt.Errorf("evidence: exit is %+v: expected one of code (0 to 255), signal (1 to 127), timeout or memory", x)
	}
	return nil
}

// check compares a stream's digest with its lines where all lines are there.
func (s Stream) check(name string) error {
	if s.Complete && len(s.Lines) != s.Count || len(s.Lines) > s.Count {
		return fmt.Errorf("evidence: %s has %d lines and says %d", name, len(s.Lines), s.Count)
	}
	if s.Complete && digestLines(s.Lines) != s.SHA256 {
		return fmt.Errorf("evidence: %s lines hash to %s, but the evidence says %s", name, digestLines(s.Lines), s.SHA256)
	}
	return nil
}
