package speech

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wave is a recording of so many samples.
func wave(n int) *sound {
	s := &sound{rate: rate}
	for i := range n {
		s.samples = append(s.samples, int16(i*7919))
	}
	return s
}

func TestReadSound(t *testing.T) {
	good := wave(100).wav(1)
	odd := slices.Concat(good[:12], []byte("LIST\x03\x00\x00\x00abc\x00"), good[12:])
	for _, tt := range []struct {
		name string
		data []byte
		raw  bool
		want string
	}{
		{"wave", good, false, ""},
		{"another chunk first", odd, false, ""},
		{"raw", good[44:], true, ""},
		{"no wave", []byte("This is not a recording."), false, "RIFF WAVE"},
		{"nothing", nil, false, "RIFF WAVE"},
		{"header alone", good[:12], false, "samples"},
		{"stereo", wave(100).wav(2), false, "mono"},
		{"cut", good[:100], false, "are left"},
		{"large", make([]byte, maxSource+1), true, "at most"},
	} {
		s, err := readSound(tt.data, tt.raw)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
			}
			continue
		}
		if err != nil || !slices.Equal(s.samples, wave(100).samples) || s.rate != rate {
			t.Errorf("%s: %v, samples differ or another rate", tt.name, err)
		}
	}
}

func FuzzReadSound(f *testing.F) {
	f.Add(wave(3).wav(1), false)
	f.Add([]byte{1, 2, 3}, true)
	f.Fuzz(func(t *testing.T, data []byte, raw bool) {
		if s, err := readSound(data, raw); err == nil && 2*len(s.samples) > len(data) {
			t.Errorf("%d samples of %d bytes", len(s.samples), len(data))
		}
	})
}

func TestDerive(t *testing.T) {
	if got := wave(4).besideNothing().samples; !slices.Equal(got, []int16{0, 0, 7919, 0, 15838, 0, 23757, 0}) {
		t.Errorf("two channels: %v", got)
	}
	if got := (&sound{samples: []int16{1000, -30000, 30000}}).louder(6).samples; !slices.Equal(got, []int16{6000, -32768, 32767}) {
		t.Errorf("louder: %v", got)
	}
	flat := &sound{rate: rate, samples: slices.Repeat([]int16{1000}, 200)}
	half := flat.decimate(2)
	if len(half.samples) != 100 || half.rate != rate/2 || half.samples[50] < 990 || half.samples[50] > 1010 {
		t.Errorf("decimated: %d samples at %d Hz, %d in the middle; a constant stays one", len(half.samples), half.rate, half.samples[50])
	}
	if _, err := (&sound{rate: 8000}).flac(); err == nil {
		t.Error("FLAC at a rate that its header does not say")
	}
	if got := crc([]byte("123456789"), 16, 0x8005); got != 0xFEE8 { // CRC-16/UMTS
		t.Errorf("CRC of the check string: %x", got)
	}
}

// The table is sound, the checked-in transcripts are of its bytes, and the build makes what it lists.
func TestTable(t *testing.T) {
	var sources map[string]struct {
		Files map[string]string `json:"files"`
	}
	readJSON(t, "../../../third_party/speech/sources.json", &sources)
	bzl, err := os.ReadFile("../../../testdata/speech/recordings.bzl")
	if err != nil {
		t.Fatal(err)
	}
	built := map[string]string{}
	for _, m := range regexp.MustCompile(`"([a-z0-9-]+)": "([a-z0-9-]+\.[a-z]+)"`).FindAllStringSubmatch(string(bzl), -1) {
		built[m[1]] = m[2]
	}
	made := map[string]string{}
	for _, r := range recordings {
		made[r.Name] = r.File
		_, sphinx := sources["pocketsphinx_testdata"].Files[r.source]
		_, alsa := sources["alsa_utils"].Files[r.source]
		if r.derive == nil && !sphinx && !alsa {
			t.Errorf("%s: source %s is not pinned in third_party/speech", r.Name, r.source)
		}
	}
	if diff := cmp.Diff(made, built); diff != "" {
		t.Errorf("testdata/speech/recordings.bzl differs (-made +listed):\n%s", diff)
	}
	for _, model := range []string{"tiny.en", "base"} {
		var file struct {
			Recordings []struct {
				Name   string `json:"name"`
				SHA256 string `json:"audio_sha256"`
			} `json:"recordings"`
		}
		readJSON(t, "../../../testdata/transcripts/"+model+".json", &file)
		for _, r := range recordings {
			has := slices.ContainsFunc(file.Recordings, func(s struct {
				Name   string `json:"name"`
				SHA256 string `json:"audio_sha256"`
			}) bool {
				return s.Name == r.Name && s.SHA256 == r.SHA256
			})
			if !has && r.Name != "unreadable" {
				t.Errorf("%s has no transcript of these bytes by %s", r.Name, model)
			}
		}
	}
}

func readJSON(t *testing.T, path string, out any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(path))
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Sources that are missing, or others than the pinned ones, are refused by name.
func TestMakeRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := Make(nil, dir); err == nil || !strings.Contains(err.Error(), "librivox-0870") {
		t.Errorf("without sources: error %v", err)
	}
	path := filepath.Join(dir, filepath.FromSlash(recordings[0].source))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, wave(10).wav(1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Make([]string{path}, dir); err == nil || !strings.Contains(err.Error(), recordings[0].SHA256) {
		t.Errorf("with another source: error %v, want one with the pinned digest", err)
	}
}
