package judge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// together compares the parts of one evidence: what was asked for (argv, environment), what it ran with (digests,
// flavour, starts) and what the log itself says of model, audio, threads and decoding. The runner writes them as one;
// evidence in which they differ was not written by it.
func together(f *verdict.Judgement, m markers, r *Run) {
	e := r.Evidence
	if e == nil {
		return
	}
	c := contradictions{f}
	c.program(e)
	c.starts(e)
	c.environment(e)
	c.emulation(e, m)
	c.encoders(e, m)
	asked := c.arguments(e, r.Argv)
	if asked == nil {
		return
	}
	c.log(m, asked)
	for i, line := range r.Stderr {
		if path, ok := whispercpp.Reading(line); ok && path != asked.audio {
			c.f.Add(reason.StaleLog, fmt.Sprintf("stderr line %d", r.number(i)), fmt.Sprintf("the recording %q", asked.audio), strconv.Quote(path))
		}
	}
	if x := effective(e.Exit); x.Kind == evidence.ExitCode && (x.Code == 0 || x.Code == whispercpp.ExitNoContext) && m.ofWhisper() && !m.has(whispercpp.LineModelFile) && !m.silenced() && !m.tells(whispercpp.LineUsage) {
		c.add("stderr", "the line that names the model, which the program prints first", "none")
	}
}

// contradictions collects what does not agree.
type contradictions struct{ f *verdict.Judgement }

func (c contradictions) add(where, expected, found string) {
	c.f.Add(reason.EvidenceContradicts, where, expected, quote(found))
}

// program compares flavour, lane and evaluator.
func (c contradictions) program(e *evidence.Evidence) {
	if !slices.Contains(whispercpp.Flavours, e.Flavour) {
		c.add("flavour", strings.Join(whispercpp.Flavours, ", "), strconv.Quote(e.Flavour))
	}
	switch needs := e.Lane == evidence.LaneEmulated && whispercpp.HasCoreML(e.Flavour); {
	case needs && e.Digests.Evaluator == nil:
		c.add("digests.evaluator", "the digest of the evaluator that the emulated double starts", "none")
	case e.Lane == evidence.LanePhysical && e.Digests.Evaluator != nil:
		c.add("digests.evaluator", "none on the physical lane", "a digest")
	}
}

// emulation compares the greeting of what stands for Core ML with the lane's identity. It greets whoever loads an encoder.
func (c contradictions) emulation(e *evidence.Evidence, m markers) {
	if e.Lane != evidence.LaneEmulated || !m.has(whispercpp.LineLoaded) && !m.has(whispercpp.LineLoadFailed) {
		return
	}
	for _, a := range m.exact[whispercpp.LineDouble] {
		version, protocol, ok := whispercpp.Greeting(a.Text)
		if !ok {
			continue
		}
		for _, v := range []struct{ name, said string }{{"version", version}, {"protocol", protocol}} {
			if want, known := e.LaneIdentity[v.name]; known && want != v.said {
				c.add(a.where(), v.name+" "+want+", as the lane's identity says", v.said)
			}
		}
		return
	}
	c.add("stderr", "the greeting of what stands for Core ML, with its version, protocol and fault", "none")
}

// encoders compares what the log says of another encoder with the macros of the build.
func (c contradictions) encoders(e *evidence.Evidence, m markers) {
	for _, a := range m.exact[whispercpp.LineSystemInfo] {
		if whispercpp.OpenVINO(a.Text) {
			c.add(a.where(), "OPENVINO = 0: no flavour has another encoder than ggml's and Core ML's", a.Text)
		}
	}
}

// starts compares counts of starts with what each kind of run may have. A canary's own rule is stricter and stands
// with the canary.
func (c contradictions) starts(e *evidence.Evidence) {
	if e.WarmUps > 0 && e.Kind != evidence.KindCanary && (e.Kind != evidence.KindCoreML || e.Lane != evidence.LanePhysical) {
		c.add("warm_ups", "none but before a physical coreml run", strconv.Itoa(e.WarmUps))
	}
}

// environment compares the program's environment with the one that the runner gives.
func (c contradictions) environment(e *evidence.Evidence) {
	fill, have := e.Environment[evidence.HeapVariable]
	heap := 0
	if have {
		n, err := strconv.Atoi(fill)
		if err != nil || n < 0 || n > 254 || strconv.Itoa(n) != fill || e.Lane != evidence.LaneEmulated {
			c.f.Add(reason.EnvironmentForbidden, "environment."+evidence.HeapVariable, "a number from 0 to 254 on the emulated lane, or none", quote(fill))
			return
		}
		heap = 255 - n
	}
	if e.Kind == evidence.KindCanary && e.Lane == evidence.LaneEmulated && !have {
		c.f.Add(reason.EnvironmentForbidden, "environment", evidence.HeapVariable+" in a negative control, so that memory which was never initialised is not zero by luck", "none")
	}
	want := evidence.Environment(func(name string) string { return "$STAGE/" + name }, heap, e.Lane == evidence.LaneEmulated && e.Digests.Evaluator != nil, e.Fault)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, ok := e.Environment[name]; !ok || got != want[name] {
			c.f.Addf(reason.EnvironmentForbidden, "environment."+name, strconv.Quote(want[name]), "%s", map[bool]string{true: strconv.Quote(got), false: "none"}[ok])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Environment)) {
		if _, ok := want[name]; !ok {
			c.f.Add(reason.EnvironmentForbidden, "environment."+quote(name), "no such variable", strconv.Quote(e.Environment[name]))
		}
	}
}

// asked is what the command line asks for.
type asked struct {
	model, audio, threads string
	decoding              whispercpp.Decoding
}

// arguments reads the command line as the runner writes it: each of its own options once, the decoding that it
// pins, and no option that it refuses.
func (c contradictions) arguments(e *evidence.Evidence, argv []string) *asked {
	if len(e.Argv) == 0 || e.Argv[0] != "whisper-cli" {
		c.add("argv", "whisper-cli and its arguments", strings.Join(e.Argv, " "))
		return nil
	}
	a := &asked{}
	language := ""
	for _, o := range []struct {
		name string
		to   *string
	}{{"--model", &a.model}, {"--file", &a.audio}, {"--language", &language}, {"--threads", &a.threads}, {"--temperature", nil}, {"--temperature-inc", nil}} {
		values := whispercpp.Values(argv, o.name)
		if len(values) == 0 && o.to == nil {
			continue // the decoding says so
		}
		if len(values) != 1 {
			c.add("argv", "one "+o.name, fmt.Sprintf("%d: %s", len(values), strings.Join(values, ", ")))
			return nil
		}
		if o.to != nil {
			*o.to = values[0]
		}
	}
	var err error
	if a.decoding, err = whispercpp.ReadDecoding(argv); err != nil {
		c.add("argv", "a command line that can be read", err.Error())
		return nil
	}
	switch d := a.decoding; {
	case d.Temperature != 0 || d.TemperatureIncrement != 0:
		c.f.Addf(reason.NondeterministicDecode, "argv", "--temperature 0 --temperature-inc 0", "%g and %g", d.Temperature, d.TemperatureIncrement)
	case d.Timestamps:
		c.add("argv", "--no-timestamps", "none")
	case language == "auto" || !plainLanguage(language):
		c.f.Add(reason.LanguageMissing, "argv", "a language code or name in lower case, such as en", strconv.Quote(language))
	}
	if path := whispercpp.EncoderPath(a.model); e.EncoderPath.Derived != path {
		c.add("encoder_path", fmt.Sprintf("%q, as the runtime derives it from %q", path, a.model), strconv.Quote(e.EncoderPath.Derived))
	}
	return a
}

func plainLanguage(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz ") == ""
}

// log compares the command line with what the log says of the run.
func (c contradictions) log(m markers, a *asked) {
	for _, line := range append(m.exact[whispercpp.LineModelFile], m.exact[whispercpp.LineModelMissing]...) {
		if line.Path() != a.model {
			c.f.Add(reason.StaleLog, line.where(), fmt.Sprintf("the model %q", a.model), strconv.Quote(line.Path()))
		}
	}
	for _, line := range m.exact[whispercpp.LineSystemInfo] {
		if n, ok := whispercpp.Threads(line.Text); !ok || n != a.threads {
			c.add(line.where(), a.threads+" threads, as -t says", line.Text)
		}
	}
	for _, line := range m.exact[whispercpp.LineProcessing] {
		p, ok := whispercpp.ReadProcessing(line.Text)
		if !ok {
			c.add(line.where(), "the line that the program prints before it hears a recording", line.Text)
			continue
		}
		if p.Audio != a.audio {
			c.f.Add(reason.StaleLog, line.where(), fmt.Sprintf("the recording %q", a.audio), strconv.Quote(p.Audio))
			continue
		}
		for _, v := range []struct{ what, want, got string }{
			{"threads", a.threads, p.Threads}, {"processors", "1", p.Processors}, {"beams", strconv.Itoa(a.decoding.BeamSize), p.Beams},
			{"best of", strconv.Itoa(a.decoding.BestOf), p.BestOf}, {"language", a.decoding.Language, p.Language}, {"task", a.decoding.Task, p.Task},
			{"timestamps", "0", p.Timestamps},
		} {
			if v.want != v.got {
				c.add(line.where(), fmt.Sprintf("%s %s, as the arguments say", v.what, v.want), v.got)
			}
		}
	}
}
