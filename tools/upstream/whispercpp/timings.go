package whispercpp

import (
	"math"
	"regexp"
	"strconv"
)

// Stages of whisper_print_timings that count what they did.
const (
	// StageEncode counts windows that went through an encoder, whichever it was.
	StageEncode = "encode"
	// StageDecode counts single steps of the decoder.
	StageDecode = "decode"
)

// timedRuns takes the time as the program writes it or as normalisation does.
var timedRuns = regexp.MustCompile(`^whisper_print_timings: +([a-z]+) time = +(?:<ms>|[0-9.]+ ms) / +([0-9]+) runs`)

// TimedRuns reads a line of whisper_print_timings that counts runs.
func TimedRuns(line string) (stage string, runs int, ok bool) {
	m := timedRuns.FindStringSubmatch(line)
	if m == nil {
		return "", 0, false
	}
	if runs, err := strconv.Atoi(m[2]); err == nil {
		return m[1], runs, true
	}
	return m[1], math.MaxInt, true // more digits than a count has
}

var timedStage = regexp.MustCompile(`(?m)^whisper_print_timings: *([a-z]+) time = *([0-9]+(?:\.[0-9]+)?) ms`)

// TimedMilliseconds reads the "… time" figures of whisper_print_timings from a log, by stage.
func TimedMilliseconds(log []byte) map[string]float64 {
	out := map[string]float64{}
	for _, m := range timedStage.FindAllSubmatch(log, -1) {
		if v, err := strconv.ParseFloat(string(m[2]), 64); err == nil {
			out[string(m[1])] = v
		}
	}
	return out
}
