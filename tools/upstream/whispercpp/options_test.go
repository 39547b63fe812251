package whispercpp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// TestCheck holds that a command line is read as the program reads it: a value is not an option.
func TestCheckArguments(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"-bs 5 -bo 5 -nf", nil},
		{"-ac 512 -np", []string{"-ac", "-np"}},
		{"--prompt -np", []string{"--prompt"}},
		{"-m ggml-model.bin -f audio.wav -l en -t 2 --no-timestamps --temperature 0 --temperature-inc 0", []string{"-m", "-f", "-l", "-t", "--no-timestamps", "--temperature", "--temperature-inc"}},
		{"-p 1", nil},
		{"-p 2", []string{"-p"}},
		{"@file", []string{"@file"}},
		{"input.wav", []string{""}},
		{"--audio-ctx=512", []string{"--audio-ctx"}},
		{"--nope 1", []string{"--nope", ""}},
	} {
		var got []string
		for _, v := range whispercpp.CheckArguments(strings.Fields(c.line)) {
			got = append(got, v.Name)
			if v.Expected == "" || v.Found == "" {
				t.Errorf("%q: %s has no words", c.line, v.Name)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q differs (-want +got):\n%s", c.line, diff)
		}
	}
	for _, v := range whispercpp.CheckArguments([]string{"-np", "-l", "en"}) {
		if v.Blinds != (v.Name == "-np") || v.Own != (v.Name == "-l") {
			t.Errorf("%+v", v)
		}
	}
}

func TestLastValue(t *testing.T) {
	line := strings.Fields("-m a.bin --prompt -m -m b.bin -f x")
	if got, ok := whispercpp.LastValue(line, "--model"); !ok || got != "b.bin" {
		t.Errorf("model %q, %v, want b.bin", got, ok)
	}
	if got, ok := whispercpp.LastValue([]string{"-m"}, "--model"); ok {
		t.Errorf("an option without its value gives %q", got)
	}
}

func TestValues(t *testing.T) {
	line := strings.Fields("-f a.wav --prompt -f --file b.wav -f")
	if diff := cmp.Diff([]string{"a.wav", "b.wav"}, whispercpp.Values(line, "--file")); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
}
