package mel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"
)

// tones is two seconds of sound with a gap.
func tones() []float32 {
	out := make([]float32, 2*Rate+37)
	for i := range out {
		x := float64(i) / Rate
		out[i] = float32(0.3*math.Sin(2*math.Pi*440*x) + 0.2*math.Sin(2*math.Pi*(200+1500*x)*x))
		if i > Rate && i < Rate+3000 {
			out[i] = 0
		}
	}
	return out
}

// triangles is a plain bank of overlapping filters.
func triangles(mels int) []float32 {
	f := make([]float32, mels*bins)
	for m := range mels {
		centre := float64(m+1) * bins / float64(mels+1)
		for k := range bins {
			f[m*bins+k] = float32(math.Max(0, 1-math.Abs(float64(k)-centre)/8) / 50)
		}
	}
	return f
}

// The whole computation again, by its definition, in float64.
func TestAgainstTheDefinition(t *testing.T) {
	const mels = 8
	x, f := tones(), triangles(mels)
	got, err := Compute(x, f, mels)
	if err != nil {
		t.Fatal(err)
	}
	if want := (len(x) + 30*Rate) / hop; got.Frames != want {
		t.Fatalf("%d frames, want %d", got.Frames, want)
	}
	at := func(i int) float64 {
		switch i -= pad; {
		case i < 0:
			return float64(x[-i])
		case i < len(x):
			return float64(x[i])
		}
		return 0
	}
	want := make([]float64, mels*got.Frames)
	high := math.Inf(-1)
	for i := range got.Frames {
		var power [bins]float64
		if i < (len(x)+pad)/hop+1 {
			for k := range power {
				var sum complex128
				for n := range window {
					h := 0.5 * (1 - math.Cos(2*math.Pi*float64(n)/window))
					sum += complex(h*at(i*hop+n), 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(k*n%window)/window))
				}
				power[k] = real(sum)*real(sum) + imag(sum)*imag(sum)
			}
		}
		for m := range mels {
			var s float64
			for k, p := range power {
				s += p * float64(f[m*bins+k])
			}
			v := math.Log10(math.Max(s, 1e-10))
			want[m*got.Frames+i] = v
			high = math.Max(high, v)
		}
	}
	for i, v := range want {
		if w := (math.Max(v, high-8) + 4) / 4; math.Abs(float64(got.Values[i])-w) > 1e-4 {
			t.Fatalf("band %d, frame %d: %g, want %g", i/got.Frames, i%got.Frames, got.Values[i], w)
		}
	}
}

func TestWindowPadsWithZeros(t *testing.T) {
	s := &Spectrogram{Mels: 2, Frames: 3, Values: []float32{1, 2, 3, 4, 5, 6}}
	if got := s.Window(1, 4); !equal(got, []float32{2, 3, 0, 0, 5, 6, 0, 0}) {
		t.Errorf("got %v", got)
	}
	if got := s.Window(9, 1); !equal(got, []float32{0, 0}) {
		t.Errorf("past the end: %v", got)
	}
}

func equal(a, b []float32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestRefusals(t *testing.T) {
	if _, err := Compute(make([]float32, 200), triangles(8), 8); err == nil || !strings.Contains(err.Error(), "reflected") {
		t.Errorf("200 samples: %v", err)
	}
	if _, err := Compute(tones(), triangles(8), 80); err == nil || !strings.Contains(err.Error(), "expected 16080") {
		t.Errorf("too few filters: %v", err)
	}
}

func wav(format, channels, bits uint16, rate uint32, data []byte) []byte {
	le := binary.LittleEndian
	b := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt "), le.AppendUint32(nil, 16)...)
	b = le.AppendUint16(le.AppendUint16(b, format), channels)
	b = le.AppendUint32(le.AppendUint32(b, rate), rate*uint32(channels)*uint32(bits)/8)
	b = le.AppendUint16(le.AppendUint16(b, channels*bits/8), bits)
	b = append(b, "LIST\x03\x00\x00\x00abc\x00data"...)
	return append(le.AppendUint32(b, uint32(len(data))), data...)
}

func TestReadWAV(t *testing.T) {
	got, err := ReadWAV(bytes.NewReader(wav(1, 1, 16, Rate, []byte{0, 0x40, 0, 0x80})))
	if err != nil || !equal(got, []float32{0.5, -1}) {
		t.Errorf("16 bits: %v %v", got, err)
	}
	got, err = ReadWAV(bytes.NewReader(wav(3, 1, 32, Rate, []byte{0, 0, 0x80, 0x3e})))
	if err != nil || !equal(got, []float32{0.25}) {
		t.Errorf("float32: %v %v", got, err)
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"stereo": {wav(1, 2, 16, Rate, nil), "2 channel"}, "48 kHz": {wav(1, 1, 16, 48000, nil), "48000 Hz"},
		"24 bits": {wav(1, 1, 24, Rate, []byte{1, 2, 3}), "24 bits"}, "mp3": {[]byte("ID3 and so on, not RIFF"), "not a WAV"},
		"cut off": {wav(1, 1, 16, Rate, nil)[:40], "no data"},
	} {
		if _, err := ReadWAV(bytes.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadWAV(f *testing.F) {
	f.Add(wav(1, 1, 16, Rate, []byte{1, 2, 3, 4}))
	f.Add(wav(3, 1, 32, Rate, []byte{1, 2, 3, 4, 5}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := ReadWAV(bytes.NewReader(b)); err == nil && len(s) > len(b) {
			t.Fatalf("%d samples from %d bytes", len(s), len(b))
		}
	})
}

// The probe's spectrogram is what Compute makes of the probe, each time and for each bank of filters.
func TestProbeSpectrogram(t *testing.T) {
	for _, mels := range []int{2, 3, 2} {
		filters := make([]float32, mels*201)
		for i := range filters {
			filters[i] = float32(i % 7)
		}
		want, err := Compute(Probe(), filters, mels)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ProbeSpectrogram(filters, mels)
		if err != nil || got.Mels != mels || !slices.Equal(got.Values, want.Values) {
			t.Errorf("%d bands: another spectrogram (%v)", mels, err)
		}
	}
	if _, err := ProbeSpectrogram(nil, 2); err == nil {
		t.Error("no filters are no error")
	}
}
