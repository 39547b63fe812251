package opset

import "testing"

func TestSince(t *testing.T) {
	for name, want := range map[string]int32{"conv": 6, "ios16.mul": 6, "constexpr_cast": 7, "quantize": 8, "scaled_dot_product_attention": 9,
		"read_state": 9, "write_state": 9, "lstm": 6, "gather": 6, "const": 6} {
		if got, ok := Since(name); !ok || got != want {
			t.Errorf("%s: %d, %v, want %d", name, got, ok, want)
		}
	}
	if _, ok := Since("flash_attention"); ok {
		t.Error("an operation of no set has one")
	}
	for v := int32(6); v <= 10; v++ {
		if Name(v) == "" {
			t.Errorf("version %d has no name", v)
		}
	}
}
