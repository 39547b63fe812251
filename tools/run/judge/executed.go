package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// predictions adds the predictions that failed by the word of Core ML or of the double, which the program never learns.
func predictions(f *verdict.Judgement, m markers) {
	for _, kind := range []whispercpp.LineKind{whispercpp.LinePredictionFailed, whispercpp.LineCoreMLError} {
		for _, a := range m.told[kind] {
			if kind == whispercpp.LineCoreMLError && neuralEngine(a.Text) {
				continue // Core ML went on elsewhere, which is a note
			}
			f.Add(reason.PredictionFailed, a.where(), "no failed prediction", quote(a.Text))
			return
		}
	}
}

// neuralEngine says that a line is about the Neural Engine alone.
func neuralEngine(text string) bool {
	for _, l := range whispercpp.ReadFaults(text) {
		if l.Kind == whispercpp.LineANEFailed {
			return true
		}
	}
	return false
}

// executed adds what shows that no audio went through the encoder. That it was loaded does not show that it ran: of
// audio that is too short, or in which a voice detector found nothing, the program loads it and ends with exit 0.
func executed(f *verdict.Judgement, m markers, r *Run) {
	for _, kind := range []whispercpp.LineKind{whispercpp.LineInputShort, whispercpp.LineNoSpeech} {
		if m.tells(kind) {
			f.Add(reason.EncoderNotExecuted, m.where(kind), "audio through the encoder", m.quote(kind))
			return
		}
	}
	if whole(m, r) && !m.has(whispercpp.LineProcessing) {
		noAudio(f, r, "the line \"main: processing …\", which names the recording", "none")
		return
	}
	if m.garbles(whispercpp.LineTotal) && !m.has(whispercpp.LineTotal) {
		garbled(f, m, whispercpp.LineTotal)
		return
	}
	if !m.has(whispercpp.LineTiming) && !m.has(whispercpp.LineTotal) {
		unended(f, m, r)
		return
	}
	c := m.counters()
	f.Facts[factEncoderRuns] = c.encode
	switch {
	case !m.has(whispercpp.LineTotal):
		f.Add(reason.LogTruncated, "stderr", "\"whisper_print_timings: total time\", the last line of a run", "none")
	case !c.known:
		f.Add(reason.LogTruncated, "stderr", "\"whisper_print_timings: encode time\", which counts the encoder's runs", "none")
	case c.encode == 0 || c.idle:
		f.Add(reason.EncoderNotExecuted, c.where, "at least one run of the encoder", c.line)
	case c.others && c.most <= 1 || !c.others && r.Evidence != nil:
		// Upstream prints 1 for every counter that is 0; a decoder that had something to decode counts more.
		f.Add(reason.EncoderNotExecuted, c.where, "a decoder that decoded what the encoder gave", "no counter of the decoder above 1, which is how the program prints none")
	}
	doubleCount(f, m, c)
}

// unended judges a log without the program's counters: a whole log was cut, an excerpt may have words.
func unended(f *verdict.Judgement, m markers, r *Run) {
	said := r.StdoutKnown && evidence.Said(strings.Join(r.Stdout, "\n"))
	switch {
	case whole(m, r):
		f.Add(reason.LogTruncated, "stderr", "the lines \"whisper_print_timings\", which end a run that ends with exit 0", "none")
	case !r.Words && !said:
		f.Add(reason.EncoderNotExecuted, "stderr", "the encoder's own count of runs (\"whisper_print_timings: encode time\")", "no count, and no words")
	case !r.StdoutKnown:
		// Neither the counters nor the words of this excerpt are known, and a load marker alone proves no run.
		f.Add(reason.LogTruncated, "stderr", "the lines \"whisper_print_timings\", or the words in a section \"--- stdout\"", "neither")
	default:
		f.Facts[factEncoderRuns] = "not counted: the log is an excerpt"
	}
}

// whole says that the log begins where a run does, so that it must end where one does.
func whole(m markers, r *Run) bool {
	return r.Evidence != nil || m.has(whispercpp.LineModelFile) || m.has(whispercpp.LineModelFact)
}

// counters are what whisper_print_timings counted.
type counters struct {
	// known says that the encoder's line is there.
	known  bool
	encode int
	// idle says that the encoder took no time.
	idle bool
	// others says that another stage is counted, most is the highest of those counts.
	others bool
	most   int
	// where and line are the encoder's line.
	where, line string
}

func (m markers) counters() counters {
	c := counters{encode: math.MaxInt, where: "stderr"}
	for _, a := range m.exact[whispercpp.LineTiming] {
		stage, runs, ok := whispercpp.TimedRuns(a.Text)
		switch {
		case !ok:
		case stage == whispercpp.StageEncode:
			c.known, c.where, c.line = true, a.where(), quote(a.Text)
			c.encode = min(c.encode, runs)
			c.idle = c.idle || strings.Contains(a.Text, "time =     0.00 ms")
		default:
			c.others, c.most = true, max(c.most, runs)
		}
	}
	if !c.known {
		c.encode = 0
	}
	return c
}

// countsSince is the version from which on the double, and the stand-in for Core ML, count their predictions and say so when
// the context is freed.
const countsSince = 2

// doubleCount compares the double's own count with the program's. If a double that counts has no count, it was never freed,
// or its line was taken out.
func doubleCount(f *verdict.Judgement, m markers, c counters) {
	if m.doubleCounts() && !m.has(whispercpp.LineDoubleCount) && m.has(whispercpp.LineTotal) {
		f.Add(reason.LogTruncated, "stderr", "the double's own count, \"N predictions, M failed\", behind the program's", "none")
	}
	total := 0
	for i, a := range m.exact[whispercpp.LineDoubleCount] {
		// It is said when the context is freed, which is after the program's own counters.
		if end := m.exact[whispercpp.LineTotal]; len(end) > 0 && a.index < end[len(end)-1].index {
			f.Add(reason.StaleLog, a.where(), "the double's count behind \"whisper_print_timings: total time\"", quote(a.Text))
		}
		made, err := strconv.Atoi(a.Value(0))
		failed, err2 := strconv.Atoi(a.Value(1))
		if err == nil && err2 == nil && made <= many {
			total += made // a context for each processor, where there are several
			f.Facts[FactDoublePredictions] = total
		}
		switch {
		case err != nil || err2 != nil || strconv.Itoa(made) != a.Value(0) || strconv.Itoa(failed) != a.Value(1) || made > many || failed > made || failed > 0 && !m.tells(whispercpp.LinePredictionFailed):
			f.Add(reason.PredictionFailed, a.where(), "no failed prediction", quote(a.Text))
		case failed > 0: // each of them has a line of its own, which is quoted
		case made == 0:
			f.Add(reason.EncoderNotExecuted, a.where(), "at least one prediction", quote(a.Text))
		case i == len(m.exact[whispercpp.LineDoubleCount])-1 && c.known && total != c.encode:
			f.Add(reason.StaleLog, a.where(), fmt.Sprintf("%d predictions, as whisper_print_timings counts", c.encode), quote(a.Text))
		}
	}
}

// doubleCounts says that a double of a version that counts loaded the encoder.
func (m markers) doubleCounts() bool {
	if !m.has(whispercpp.LineLoaded) {
		return false
	}
	for _, a := range m.exact[whispercpp.LineDouble] {
		if a.Value(0) != "" {
			version, err := strconv.Atoi(a.Value(0))
			return err != nil || version >= countsSince // more digits than a version has are no reason to demand less
		}
	}
	return false
}
