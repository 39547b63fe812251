package measure

import (
	"math"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Timings are whisper's own timing lines: milliseconds, and how many calls they are of. Batch counts the tokens that were decoded
// several at a time, those of all beams.
type Timings struct {
	LoadMS  float64 `json:"load_ms"`
	MelMS   float64 `json:"mel_ms"`
	TotalMS float64 `json:"total_ms"`
	Sample  Timing  `json:"sample"`
	Encode  Timing  `json:"encode"`
	Decode  Timing  `json:"decode"`
	Batch   Timing  `json:"batch"`
	Prompt  Timing  `json:"prompt"`
}

// Timing is one line: the time of all calls, and their count.
type Timing struct {
	MS   float64 `json:"ms"`
	Runs int     `json:"runs"`
}

// each is the time of one call in seconds, or NaN without a call.
func (t Timing) each() float64 {
	if t.Runs < 1 {
		return math.NaN()
	}
	return t.MS / 1000 / float64(t.Runs)
}

// ReadTimings reads stderr.
func ReadTimings(stderr []byte) Timings {
	ms := whispercpp.TimedMilliseconds(stderr)
	runs := map[string]int{}
	for _, line := range strings.Split(string(stderr), "\n") {
		if stage, n, ok := whispercpp.TimedRuns(line); ok {
			runs[stage] = n
		}
	}
	of := func(stage string) Timing { return Timing{ms[stage], runs[stage]} }
	return Timings{LoadMS: ms["load"], MelMS: ms["mel"], TotalMS: ms["total"], Sample: of("sample"),
		Encode: of(whispercpp.StageEncode), Decode: of(whispercpp.StageDecode), Batch: of("batchd"), Prompt: of("prompt")}
}

// Tokens is how many tokens the decoder put out, one by one or in batches, and in how many seconds.
func (t Timings) Tokens() (int, float64) {
	return t.Decode.Runs + t.Batch.Runs, (t.Decode.MS + t.Batch.MS) / 1000
}
