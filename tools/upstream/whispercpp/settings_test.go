package whispercpp

import (
	"slices"
	"testing"
)

func TestSettings(t *testing.T) {
	for line, want := range map[string]string{
		"whisper_model_load: n_mels        = 80":                                             "whisper_model_load: n_mels",
		"whisper_init_state: compute buffer (conv)   =    4.85 MB":                           "whisper_init_state: compute buffer (conv)",
		"whisper_model_load:          CPU total size =    77.11 MB":                          "whisper_model_load:          CPU total size",
		"whisper_print_timings:   encode time = <ms> /     1 runs ( <ms> per run)":           "whisper_print_timings:   encode time",
		"whisper_print_timings:   decode time = <ms> /     1 runs ( <ms> per run)":           "",
		"whisper_init_state: Core ML model loaded":                                           "",
		"whisper_full_with_state: auto-detected language: en (p = 0.9)":                      "",
		"whisper_init_state: loading Core ML model from 'a=b-encoder.mlmodelc' and no value": "whisper_init_state: loading Core ML model from 'a",
	} {
		if got := Setting(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestHeader(t *testing.T) {
	log := []string{"whisper_model_load: loading model", "whisper_model_load: n_vocab       = 51864", "whisper_model_load: type          = 1 (tiny)", "whisper_model_load: adding 1607 extra tokens",
		"whisper_model_load:          CPU total size =    77.11 MB", "whisper_model_load: model size    =   77.11 MB", "whisper_init_state: kv self size  =    3.15 MB"}
	if got, want := Header(log), []string{log[1], log[2], log[3], log[5]}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAgree(t *testing.T) {
	for _, c := range []struct {
		samples, seconds string
		want             bool
	}{
		{"176000", "11.0", true}, {"176000", "12.0", false}, {"0", "0.0", true}, {"799", "0.0", true}, {"801", "0.1", true}, {"57600000", "3600.0", true}, {"57600000", "3600", false}, {"99999999999999", "1.0", false},
	} {
		if got := (Processing{Samples: c.samples, Seconds: c.seconds}).Agree(); got != c.want {
			t.Errorf("%s samples, %s sec: %v, want %v", c.samples, c.seconds, got, c.want)
		}
	}
}

func TestGreeting(t *testing.T) {
	if v, p, ok := Greeting("coreml_stand_in: version 2, protocol 1, fault none"); !ok || v != "2" || p != "1" {
		t.Errorf("%q %q %v", v, p, ok)
	}
	if _, _, ok := Greeting("coreml_double: ready, kernel x"); ok {
		t.Error("no greeting is one")
	}
	if !OpenVINO("system_info: n_threads = 1 / 2 | WHISPER : COREML = 1 | OPENVINO = 1 | ") || !OpenVINO("system_info: WHISPER : OPENVINO = 1 |") || OpenVINO("system_info: OPENVINO = 0 | CPU : OPENVINO = 10 |") {
		t.Error("OPENVINO is misread")
	}
	if path, ok := Reading("read_audio_data: reading audio data from 'it's.mp3' ..."); !ok || path != "it's.mp3" {
		t.Errorf("%q %v", path, ok)
	}
}
