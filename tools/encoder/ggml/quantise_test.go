package ggml

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// Upstream's answers again: from_float_ref of each type's ggml_type_traits at
// the supported pin, over the same 4096 values; digests of the bytes.
func TestQuantiseEqualsUpstream(t *testing.T) {
	values := make([]float32, 4096)
	s := uint64(0x853c49e6748fea9b)
	for i := range values {
		s = s*6364136223846793005 + 1442695040888963407
		values[i] = float32(int32(s>>40)-1<<23) / (1 << 23)
		if i/32 == 5 {
			values[i] = 0
		}
	}
	for typ, want := range map[Type]string{
		Q4_0: "44bffa8a9f1f5b0b42ecc5d6039cf389a091c8d3e717e9e679dc32e4a1d68fda",
		Q5_0: "248e3c3eca45e7a54109d0b09b0e8881326c6f79bb418bf8fb0c307fbab10622",
		Q8_0: "11f38a569c1d6604b5abee4cb5ba9b830c812291f6b8458ba9d5f4e5bba4feb9",
	} {
		b, err := Quantise(typ, values)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: digest %s, upstream's is %s", typ, got, want)
		}
	}
	if _, err := Quantise(Q5_1, values); err == nil {
		t.Error("q5_1 was written")
	}
	if _, err := Quantise(Q8_0, values[:33]); err == nil {
		t.Error("33 values were written")
	}
}
