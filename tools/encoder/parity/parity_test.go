package parity

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

const frames, channels = 60, 24

// reference varies from frame to frame and from channel to channel.
func reference() Tensor {
	t := Tensor{Name: "reference", Shape: []int{1, frames, channels}, MelSHA256: "m"}
	x := uint32(1)
	for range frames * channels {
		x = x*1664525 + 1013904223
		t.Values = append(t.Values, float64(int32(x))/(1<<30))
	}
	return t
}

// bent is the reference with something done to it.
func bent(f func(v []float64)) Tensor {
	t := reference()
	t.Name, t.Values = "candidate", slices.Clone(t.Values)
	f(t.Values)
	return t
}

func frozen(t *testing.T, name string) *policy.Policy {
	t.Helper()
	p, err := policy.Frozen(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func judge(t *testing.T, name, precision string, r, c Tensor) *Judgement {
	t.Helper()
	p := frozen(t, name)
	j := NewJudgement(p, precision)
	j.Compare(p, r, c)
	return j
}

func codes(rs []reason.Reason) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Code)
	}
	return out
}

// noisy adds noise that is so many decibels below the signal.
func noisy(db float64) Tensor {
	return bent(func(v []float64) {
		var signal, noise float64
		n := make([]float64, len(v))
		for i, x := range v {
			n[i] = math.Sin(float64(i * i))
			signal += x * x
			noise += n[i] * n[i]
		}
		by := math.Sqrt(signal / noise * math.Pow(10, -db/10))
		for i := range v {
			v[i] += by * n[i]
		}
	})
}

func TestMeasureByDefinition(t *testing.T) {
	r := Tensor{Shape: []int{2, 2}, Values: []float64{3, 4, 0, 12}}
	c := Tensor{Shape: []int{2, 2}, Values: []float64{3, 4, 1, 10}}
	m, err := Measure(r, c)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %.12g, want %.12g", what, got, want)
		}
	}
	near("SNR", m.SNR, 10*math.Log10(169.0/5))
	near("cosine", m.Cosine, (9+16+120)/math.Sqrt(169*126))
	near("largest error", m.Max, 2)
	near("mean error", m.Mean, 0.75)
	near("gain", m.Gain, 145.0/169)
	near("SNR without gain", m.GainSNR, 10*math.Log10(169/(126*(169.0/145)*(169.0/145)-169)))
	near("coremltools' SNR", m.CoremltoolsSNR, 10*math.Log10((126.0/4+1e-5)/(5.0/4+1e-10)))
	near("coremltools' PSNR", m.CoremltoolsPSNR, 10*math.Log10((100+1e-5)/(5.0/4+1e-10)))
	if m.MaxAt != [2]int{1, 1} || m.WorstFrames[0].Index != 1 || m.FrameSNR[0] != Identical || m.WorstChannels[0].Index != 0 {
		t.Errorf("spots are %+v", m)
	}
}

func TestDegenerateInputsAreDefined(t *testing.T) {
	z, o := Tensor{Shape: []int{1, 2}, Values: []float64{0, 0}}, Tensor{Shape: []int{1, 2}, Values: []float64{1, 2}}
	for name, c := range map[string]struct {
		r, c        Tensor
		snr, cosine float64
	}{"equal": {o, o, Identical, 1}, "both zero": {z, z, Identical, 1}, "zero reference": {z, o, -Identical, 0}, "zero candidate": {o, z, 0, 0}} {
		m, err := Measure(c.r, c.c)
		if err != nil || m.SNR != c.snr || math.Abs(m.Cosine-c.cosine) > 1e-12 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// The reference is the signal, so the sides are not interchangeable.
func TestTheReferenceIsTheSignal(t *testing.T) {
	r, c := reference(), bent(func(v []float64) {
		for i := range v {
			v[i] *= 2
		}
	})
	a, _ := Measure(r, c)
	b, _ := Measure(c, r)
	if math.Abs(a.SNR) > 1e-9 || math.Abs(b.SNR-20*math.Log10(2)) > 1e-9 {
		t.Errorf("SNR %g one way, %g the other", a.SNR, b.SNR)
	}
}

func TestVerdicts(t *testing.T) {
	mid := frames / 2 * channels
	for name, c := range map[string]struct {
		candidate Tensor
		want      []string
	}{
		"equal":                      {bent(func([]float64) {}), nil},
		"101 dB":                     {noisy(101), nil},
		"99 dB":                      {noisy(99), []string{"PARITY_SNR"}},
		"34 dB, cosine 0.9998 (A50)": {noisy(34), []string{"PARITY_SNR", "PARITY_COSINE"}},
		"gain of 1 %": {bent(func(v []float64) {
			for i := range v {
				v[i] *= 1.01
			}
		}), []string{"PARITY_SNR", "PARITY_GAIN"}},
		"a frame of zeros": {bent(func(v []float64) { clear(v[mid : mid+channels]) }), []string{"PARITY_SNR", "PARITY_COSINE", "PARITY_ZERO_FRAMES"}},
		"constant": {bent(func(v []float64) {
			for i := range v {
				v[i] = 0.5
			}
		}), []string{"PARITY_CONSTANT", "PARITY_SNR", "PARITY_COSINE"}},
		"all zeros":      {bent(func(v []float64) { clear(v) }), []string{"PARITY_CONSTANT", "PARITY_SNR", "PARITY_COSINE"}},
		"NaN":            {bent(func(v []float64) { v[77] = math.NaN() }), []string{"PARITY_NAN"}},
		"beyond float32": {bent(func(v []float64) { v[77] = -1e300 }), []string{"PARITY_INFINITE"}},
		"below float32": {bent(func(v []float64) {
			for i := range v {
				v[i] *= 1e-200
			}
		}), []string{"PARITY_CONSTANT", "PARITY_SNR", "PARITY_COSINE"}},
		"NaN and infinity": {bent(func(v []float64) { v[77], v[78] = math.NaN(), math.Inf(-1) }), []string{"PARITY_NAN", "PARITY_INFINITE"}},
		"reversed": {bent(func(v []float64) {
			old := slices.Clone(v)
			for f := range frames {
				copy(v[f*channels:(f+1)*channels], old[(frames-1-f)*channels:])
			}
		}), []string{"PARITY_SNR", "PARITY_COSINE", "PARITY_REVERSED"}},
		"shifted": {bent(func(v []float64) { copy(v, slices.Concat(v[len(v)-5*channels:], v[:len(v)-5*channels])) }),
			[]string{"PARITY_SNR", "PARITY_COSINE", "PARITY_SHIFTED"}},
		"strides": {bent(func(v []float64) {
			old := slices.Clone(v)
			row := channels + 3
			for i := range v {
				v[i] = 777
				if f, c := i/row, i%row; c < channels {
					v[i] = old[f*channels+c]
				}
			}
		}), []string{"PARITY_SNR", "PARITY_COSINE", "PARITY_STRIDES"}},
		"a frame that overflowed": {bent(func(v []float64) {
			for i := mid; i < mid+channels; i++ {
				v[i] = 65504
			}
		}), []string{"PARITY_SNR", "PARITY_COSINE", "PARITY_FRAMES"}},
		"three frames here and there": {bent(func(v []float64) {
			for _, f := range []int{1, 7, frames - 1} {
				for i := f * channels; i < (f+1)*channels; i++ {
					v[i] = -v[i]
				}
			}
		}), []string{"PARITY_SNR", "PARITY_COSINE", "PARITY_FRAMES"}},
		"the last frame alone": {bent(func(v []float64) {
			for i := (frames - 1) * channels; i < frames*channels; i++ {
				v[i] += 3
			}
		}), []string{"PARITY_SNR", "PARITY_COSINE", "PARITY_FRAMES"}},
		"channels and frames changed over, shape kept": {bent(func(v []float64) {
			old := slices.Clone(v)
			for f := range frames {
				for c := range channels {
					v[c*frames+f] = old[f*channels+c]
				}
			}
		}), []string{"PARITY_SNR", "PARITY_COSINE", "PARITY_TRANSPOSED"}},
	} {
		j := judge(t, GatePolicy, "float32", reference(), c.candidate)
		if got := codes(j.Reasons); !slices.Equal(got, c.want) {
			t.Errorf("%s: reasons %v, want %v", name, got, c.want)
		}
		if pass := len(c.want) == 0; (j.Verdict == reason.Pass) != pass || j.SatisfiesGate() != pass {
			t.Errorf("%s: verdict %s, satisfies the gate: %v", name, j.Verdict, j.SatisfiesGate())
		}
	}
}

func TestShapes(t *testing.T) {
	with := func(shape ...int) Tensor {
		c := bent(func([]float64) {})
		n := 1
		for _, d := range shape {
			n *= d
		}
		for len(c.Values) < n {
			c.Values = append(c.Values, c.Values...)
		}
		c.Shape, c.Values = shape, c.Values[:n]
		return c
	}
	for name, c := range map[string]struct {
		candidate Tensor
		want      string
	}{
		"channels first": {with(1, channels, frames), "PARITY_TRANSPOSED"}, "too many frames": {with(1, 2*frames, channels), "PARITY_SHAPE"},
		"too few": {with(1, frames/2, channels), "PARITY_SHAPE"}, "rank 1": {with(frames * channels), "PARITY_SHAPE"}, "two images": {with(2, frames, channels), "PARITY_SHAPE"},
	} {
		if got := codes(judge(t, GatePolicy, "float32", reference(), c.candidate).Reasons); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
	// Leading extents of one do not matter.
	if j := judge(t, GatePolicy, "float32", reference(), with(frames, channels)); j.Verdict != reason.Pass {
		t.Errorf("[frames, channels]: %v", j.Reasons)
	}
}

func TestReferencesThatAreNone(t *testing.T) {
	for name, r := range map[string]Tensor{
		"NaN":            bent(func(v []float64) { v[3] = math.NaN() }),
		"constant":       bent(func(v []float64) { clear(v) }),
		"beyond float32": bent(func(v []float64) { v[3] = 1e300 }),
		"below float32": bent(func(v []float64) {
			for i := range v {
				v[i] *= 1e-200
			}
		}),
		"rank 1": {Shape: []int{4}, Values: []float64{1, 2, 3, 4}, MelSHA256: "m"},
	} {
		if got := codes(judge(t, GatePolicy, "float32", r, bent(func([]float64) {})).Reasons); !slices.Equal(got, []string{"REFERENCE_UNFIT"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBothSidesMustKnowTheirMel(t *testing.T) {
	other, none := bent(func([]float64) {}), bent(func([]float64) {})
	other.MelSHA256, none.MelSHA256 = "another", ""
	if got := codes(judge(t, GatePolicy, "float32", reference(), other).Reasons); !slices.Equal(got, []string{"MEL_DIFFERS"}) {
		t.Errorf("other mel: %v", got)
	}
	if got := codes(judge(t, GatePolicy, "float32", reference(), none).Reasons); !slices.Equal(got, []string{"MEL_UNKNOWN"}) {
		t.Errorf("unknown mel: %v", got)
	}
}

func TestPoliciesHoldForTheirPrecisionOnly(t *testing.T) {
	same := bent(func([]float64) {})
	for precision, name := range map[string]string{"float32": "fp32_v2", "float16": "fp16_v1", "compressed8": "int8_v1", "compressed4": "int4_v1", "ggml": "ggml_v1", "ggml-flash": "ggml_flash_v1"} {
		for _, other := range []string{"fp32_v2", "fp16_v1", "int8_v1", "int4_v1", "ggml_v1", "ggml_flash_v1"} {
			j := judge(t, other, precision, reference(), same)
			if pass := other == name; (j.Verdict == reason.Pass) != pass {
				t.Errorf("%s for %s: %s %v", other, precision, j.Verdict, codes(j.Reasons))
			}
			if j.SatisfiesGate() != (precision == "float32" && other == GatePolicy) {
				t.Errorf("%s for %s satisfies the gate: %v", other, precision, j.SatisfiesGate())
			}
			if noted := slices.Contains(codes(j.Notes), "POLICY_NOT_GATE"); noted != (other != GatePolicy) {
				t.Errorf("%s: notes %v", other, codes(j.Notes))
			}
		}
	}
	if j := judge(t, GatePolicy, "", reference(), same); j.Verdict == reason.Pass {
		t.Error("an encoder of unknown precision passes")
	}
	if j := judge(t, "gate_v2", "", reference(), same); !slices.Contains(codes(j.Reasons), "POLICY_KIND") {
		t.Errorf("a policy of another kind: %v", codes(j.Reasons))
	}
}

func TestAnEditedPolicyIsNone(t *testing.T) {
	p := frozen(t, GatePolicy)
	edited := *p
	edited.Thresholds = map[string]float64{"snr_db_min": 1, "cosine_min": 0}
	edited.SHA256 = strings.Repeat("0", 64)
	j := NewJudgement(&edited, "float32")
	j.Compare(&edited, reference(), noisy(34))
	if !slices.Contains(codes(j.Reasons), "POLICY_KIND") {
		t.Errorf("an edited policy judges: %v", codes(j.Reasons))
	}
}

// A tensor file of halves holds no float32 output, under whatever policy.
func TestSidesOfHalves(t *testing.T) {
	header := "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 2), }"
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	file = append(append(file, header...), 0x00, 0x3c, 0x00, 0x40, 0x00, 0x42, 0x00, 0x44)
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	digest, err := FileDigest(path)
	if err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]string{"reference": "REFERENCE_TERMS", "candidate": "PARITY_TYPE"} {
		data, err := strictjson.Canonical(&Sidecar{Schema: 1, Role: role, Model: "m", Revision: "r", Tool: "t", DType: "float32", Mode: "eval", Device: "cpu",
			Attention: "eager", MelSHA256: "m", TensorSHA256: digest})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".json", data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, reasons, err := ReadSide(path, "", role); err != nil || len(reasons) != 1 || reasons[0].Code != want || reasons[0].Found != "float16" {
			t.Errorf("%s: %v, %v; want %s", role, reasons, err, want)
		}
	}
}

// Where values are no numbers, how many frames have such and how well the others agree is said: an overflow is in a few.
func TestWhereValuesAreBad(t *testing.T) {
	for name, c := range map[string]struct {
		candidate Tensor
		want      string
	}{
		"two frames of NaN": {bent(func(v []float64) {
			v[3*channels+1], v[3*channels+2], v[7*channels] = math.NaN(), math.NaN(), math.NaN()
		}), fmt.Sprintf("3 of %d values are NaN, in 2 of %d frames, the first at frame 3, channel 1; the frames of finite values agree to", frames*channels, frames)},
		"an infinity": {bent(func(v []float64) { v[5*channels+4] = math.Inf(-1) }), fmt.Sprintf("1 of %d values are infinite, in 1 of %d frames, the first at frame 5, channel 4", frames*channels, frames)},
		"nothing else": {bent(func(v []float64) {
			for i := range v {
				v[i] = math.NaN()
			}
		}), fmt.Sprintf("in %d of %d frames, the first at frame 0, channel 0", frames, frames)},
	} {
		t.Run(name, func(t *testing.T) {
			j := judge(t, GatePolicy, "float32", reference(), c.candidate)
			if len(j.Reasons) != 1 {
				t.Fatalf("%v", j.Reasons)
			}
			got := j.Reasons[0].Found
			if !strings.Contains(got, c.want) || strings.Contains(got, "agree") != (name != "nothing else") {
				t.Errorf("said is %q, want %q", got, c.want)
			}
		})
	}
}
