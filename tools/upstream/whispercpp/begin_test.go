package whispercpp

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Where a line begins is where the expression finds it, in any mixture of whole, cut and other words.
func TestBegin(t *testing.T) {
	words := append([]string{
		"whisper_init_state: ", "whisper_print_timings: ", "whisper_model_load: ", "whisper_full_with_state: ", "whisper_backend_init_gpu: ", "whisper_vad_init: ",
		"whisper_other: ", "coreml_double: ", "coreml_stand_in: ", "coreml_other: ", "main: processing", "system_info", ": ", " ", "x", "\n", "WHISPER_", "é",
	}, firstWords...)
	r := rand.New(rand.NewPCG(5, 1))
	found, none := 0, 0
	for range 20000 {
		var text strings.Builder
		for range r.IntN(6) {
			word := words[r.IntN(len(words))]
			text.WriteString(word[r.IntN(2)*r.IntN(len(word)):])
		}
		want := -1
		if at := begins.FindStringIndex(text.String()); at != nil {
			want = at[0]
			found++
		} else {
			none++
		}
		if got := Begin(text.String()); got != want {
			t.Fatalf("%q: begins at %d, the expression says %d", text.String(), got, want)
		}
	}
	if found < 1000 || none < 1000 {
		t.Errorf("%d texts with a beginning and %d without are few", found, none)
	}
}
