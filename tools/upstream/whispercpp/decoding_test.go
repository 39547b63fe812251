package whispercpp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

func TestReadDecoding(t *testing.T) {
	// What the transcript gate asks for.
	pinned := whispercpp.Decoding{Language: "de", Task: "transcribe", BeamSize: 1, BestOf: 1}
	line := []string{"-m", "-l.bin", "-f", "audio.wav", "-l", "de", "-t", "1", "--no-timestamps", "--temperature", "0", "--temperature-inc", "0"}
	d, err := whispercpp.ReadDecoding(append(line, pinned.Arguments()...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pinned, d); diff != "" {
		t.Errorf("the pinned arguments do not give the pinned decoding (-want +got):\n%s", diff)
	}
	if n := d.Nondeterminism(); len(n) != 0 {
		t.Errorf("pinned decoding is called non-deterministic: %v", n)
	}
	plain, err := whispercpp.ReadDecoding(nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := plain.Nondeterminism(); len(n) != 1 || plain.BeamSize != 5 || !plain.Timestamps {
		t.Errorf("whisper-cli's defaults read as %+v, non-deterministic by %v", plain, n)
	}
	if nf, _ := whispercpp.ReadDecoding([]string{"-nf"}); nf.TemperatureIncrement != 0 {
		t.Errorf("-nf leaves the increment at %g", nf.TemperatureIncrement)
	}
	if said, _ := whispercpp.ReadDecoding([]string{"--prompt", "-nf"}); said.TemperatureIncrement == 0 {
		t.Error("the value of an option was read as an option")
	}
	for _, bad := range [][]string{{"-bs", "x"}, {"-tp", "warm"}, {"-mc"}} {
		if _, err := whispercpp.ReadDecoding(bad); err == nil {
			t.Errorf("%v was read", bad)
		}
	}
	want := []string{"language: de, en", "timestamps: false, true", "temperature increment: 0, 0.2", "beam size: 1, 5", "best of: 1, 5", "max context: 0, -1"}
	if diff := cmp.Diff(want, d.Differences(plain)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	greedy := pinned
	greedy.BestOf = 5
	if diff := d.Differences(greedy); diff != nil {
		t.Errorf("best-of bears on no greedy decoding, but differs: %v", diff)
	}
}
