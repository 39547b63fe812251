package measure

import "cmp"

// Idle says why a run makes no figure though its program may have ended well, or "": exit code 0 alone is no work. whisper-cli ends with 0
// where it could not read the audio, and where a prediction failed in silence; such runs are the fastest of all. flavour is how the
// program was built.
func (r *Run) Idle(flavour string) string {
	switch {
	case r.Exit != "code 0":
		return cmp.Or(r.Exit, "no exit")
	// whisper.cpp prints "1 runs" for none, in 0.00 ms.
	case r.Timings.Encode.Runs == 0 || r.Timings.Encode.MS <= 0:
		return "no encode"
	case flavour != "ggml" && r.Memory.AtLoad == nil:
		return "no load marker of the encoder"
	case r.Words.Count == 0:
		return "no word"
	}
	return ""
}

// Worked says whether a run of the arm did what it was asked for.
func (a *Arm) Worked(r *Run) bool { return r.Idle(a.Program.Flavour) == "" }
