package whispercpp

import (
	"strings"
	"testing"
)

// loadedSizes is what the pin prints while it loads tiny.en with Core ML.
const loadedSizes = `whisper_model_load:          CPU total size =    77.11 MB
whisper_model_load: model size    =   77.11 MB
whisper_init_state: kv self size  =    3.15 MB
whisper_init_state: kv cross size =    9.44 MB
whisper_init_state: kv pad  size  =    2.36 MB
whisper_init_state: compute buffer (conv)   =    4.85 MB
whisper_init_state: compute buffer (cross)  =    3.89 MB
whisper_init_state: compute buffer (decode) =   95.91 MB`

// TestReadSizes holds that every block is read once, from whole lines alone.
func TestReadSizes(t *testing.T) {
	read := func(text string) (Sizes, error) { return ReadSizes(strings.Split(text, "\n")) }
	s, err := read(loadedSizes)
	if err != nil {
		t.Fatal(err)
	}
	want := Sizes{"weights": 77110000, "kv self": 3150000, "kv cross": 9440000, "kv pad": 2360000, "conv": 4850000, "cross": 3890000, "decode": 95910000}
	if len(s) != len(want) || s.OwnEncoder() {
		t.Errorf("%v", s)
	}
	for name, bytes := range want {
		if s[name] != bytes {
			t.Errorf("%s: %d bytes, want %d", name, s[name], bytes)
		}
	}
	const encode = "\nwhisper_init_state: compute buffer (encode) =   17.72 MB"
	if s, err := read(loadedSizes + encode); err != nil || !s.OwnEncoder() || s["encode"] != 17720000 {
		t.Errorf("ggml's own encoder: %v, %v", s, err)
	}
	if s, err := read("whisper_model_load:   CPU_REPACK total size =    20.50 MB\n" + loadedSizes); err != nil || s["weights"] != 97610000 {
		t.Errorf("weights in two buffers: %v, %v", s, err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no log":            {"", "size of weights: expected one line of it"},
		"two runs":          {loadedSizes + "\n" + loadedSizes, "size of kv self: expected one line of it, as the runtime prints while it loads a model, found 2"},
		"a line missing":    {strings.Replace(loadedSizes, "(decode)", "(other)", 1), "size of decode"},
		"another unit":      {strings.Replace(loadedSizes, "3.89 MB", "3.89 GB", 1), "size of cross"},
		"quoted":            {strings.Replace(loadedSizes, "whisper_init_state: kv pad", "he said whisper_init_state: kv pad", 1), "size of kv pad"},
		"a negative size":   {strings.Replace(loadedSizes, "   9.44", "-9.44", 1), "size of kv cross"},
		"the encoder twice": {loadedSizes + encode + encode, "size of encode"},
		"more than a size":  {strings.Replace(loadedSizes, "3.15", strings.Repeat("9", 400)+".0", 1), "expected megabytes"},
	} {
		if _, err := read(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
