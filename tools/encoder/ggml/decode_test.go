package ggml

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"
)

// Upstream's own answers: at the supported pin, the to_float function of each
// type's ggml_type_traits ran over the blocks that blocks makes, and these are
// the SHA-256 digests of the float32 values that it wrote (little-endian).
var upstreamValues = map[Type]string{
	BF16: "c759bf5730b147a51334235a2d4c57f0326c7b32aa1370fd0265770445f737c1",
	F16:  "c1bd274590f83549cd74fd80132a04e22a54c55e487fe099af73210364134d93",
	Q2_K: "cfbfab5baaa8226cbcebdc60a95c4649ae292c6b8c09024977f72a514be770a7",
	Q3_K: "e8c2c8311ed3ed5c7345681a06003ebb6368524b49b8327178c958ec06ce9aa2",
	Q4_0: "c323b11d2515debec85466d9c00bce677e3912a58a53356077bb279815f871e6",
	Q4_1: "834d5f3835e19ee84fc27f49686de875a95a8ebf6120a447d874543bf49b4c27",
	Q4_K: "abae74551da71e82edb617b0b35da3959d4914c9091cadaea0a8e0ad15edcc6c",
	Q5_0: "73947dacf6bebe5a6bcbd25d411ca6c4975d2cac721dd4de7d29ed758cc9aa69",
	Q5_1: "8d1ef4cc7e9f014bd47dfa701d2cb9a57ab4532c9c44ff9e941089cd9cf10bbb",
	Q5_K: "c97018e3a11cd825bd5269d2ce003bbc7441a20891dd21d0ab3b700c65c78ae0",
	Q6_K: "d54265fc434436c7d02c94253c137afb87c62a26200529818fe5a0be34f0bc8d",
	Q8_0: "14b58f59607f7d52f941f46cc4d466af35ba67a25d8f974fbad0c93389602394",
}

// scaleOffsets says where a block's float16 scales stand; their top exponent
// bit is cleared, so that no value is infinite or NaN.
var scaleOffsets = map[Type][]int{
	F16: {0}, BF16: {0}, Q4_0: {0}, Q4_1: {0, 2}, Q5_0: {0}, Q5_1: {0, 2}, Q8_0: {0},
	Q2_K: {80, 82}, Q3_K: {108}, Q4_K: {0, 2}, Q5_K: {0, 2}, Q6_K: {208},
}

func blocks(t Type) []byte {
	info, _ := t.Info()
	n := 64
	if info.Block == 1 {
		n = 4096
	}
	b := make([]byte, n*int(info.BlockBytes))
	s := 0x853c49e6748fea9b + uint64(t)
	for i := range b {
		s = s*6364136223846793005 + 1442695040888963407
		b[i] = byte(s >> 56)
	}
	for at := 0; at < len(b); at += int(info.BlockBytes) {
		for _, o := range scaleOffsets[t] {
			b[at+o+1] &= 0xbf
		}
	}
	return b
}

func TestDecodeEqualsUpstream(t *testing.T) {
	for typ, want := range upstreamValues {
		src := blocks(typ)
		info, _ := typ.Info()
		dst := make([]float32, int64(len(src))/info.BlockBytes*info.Block)
		if err := Decode(typ, dst, src); err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, dst); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b.Bytes())
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: values have digest %s, upstream's have %s", typ, got, want)
		}
	}
	for typ := range decoders {
		if _, ok := upstreamValues[typ]; !ok && typ != F32 {
			t.Errorf("%s is decoded, and nothing compares it with upstream", typ)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	var f *FormatError
	if err := Decode(16, make([]float32, 256), make([]byte, 66)); !errors.As(err, &f) || f.Problem != Undecodable {
		t.Errorf("iq2_xxs: expected Undecodable, found %v", err)
	}
	if err := Decode(Q8_0, make([]float32, 31), make([]byte, 34)); err == nil {
		t.Error("31 values were decoded from a block of 32")
	}
}

// The name, block and size of every type, as upstream's ggml_type_name,
// ggml_blck_size, ggml_type_size and ggml_is_quantized at the supported pin
// answer.
func TestTypeTable(t *testing.T) {
	for _, want := range []struct {
		t           Type
		name        string
		block, size int64
		quantised   bool
	}{
		{0, "f32", 1, 4, false},
		{1, "f16", 1, 2, false},
		{2, "q4_0", 32, 18, true},
		{3, "q4_1", 32, 20, true},
		{6, "q5_0", 32, 22, true},
		{7, "q5_1", 32, 24, true},
		{8, "q8_0", 32, 34, true},
		{9, "q8_1", 32, 36, true},
		{10, "q2_K", 256, 84, true},
		{11, "q3_K", 256, 110, true},
		{12, "q4_K", 256, 144, true},
		{13, "q5_K", 256, 176, true},
		{14, "q6_K", 256, 210, true},
		{15, "q8_K", 256, 292, true},
		{16, "iq2_xxs", 256, 66, true},
		{17, "iq2_xs", 256, 74, true},
		{18, "iq3_xxs", 256, 98, true},
		{19, "iq1_s", 256, 50, true},
		{20, "iq4_nl", 32, 18, true},
		{21, "iq3_s", 256, 110, true},
		{22, "iq2_s", 256, 82, true},
		{23, "iq4_xs", 256, 136, true},
		{24, "i8", 1, 1, false},
		{25, "i16", 1, 2, false},
		{26, "i32", 1, 4, false},
		{27, "i64", 1, 8, false},
		{28, "f64", 1, 8, false},
		{29, "iq1_m", 256, 56, true},
		{30, "bf16", 1, 2, false},
		{34, "tq1_0", 256, 54, true},
		{35, "tq2_0", 256, 66, true},
		{39, "mxfp4", 32, 17, true},
		{40, "nvfp4", 64, 36, true},
		{41, "q1_0", 128, 18, true},
		{42, "q2_0", 64, 18, true},
	} {
		got, ok := want.t.Info()
		if !ok || got.Name != want.name || got.Block != want.block || got.BlockBytes != want.size || got.Quantised != want.quantised {
			t.Errorf("type %d: expected %+v, found %+v", want.t, want, got)
		}
	}
}
