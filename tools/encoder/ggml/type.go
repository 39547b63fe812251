package ggml

import "fmt"

// Type is a ggml_type: how a tensor's values are stored. The numbers are those
// of ggml/include/ggml.h at the supported pin.
type Type uint32

// The types that Whisper files are written in. Others have names and sizes
// too, see Type.Info.
const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q4_1 Type = 3
	Q5_0 Type = 6
	Q5_1 Type = 7
	Q8_0 Type = 8
	Q2_K Type = 10
	Q3_K Type = 11
	Q4_K Type = 12
	Q5_K Type = 13
	Q6_K Type = 14
	F64  Type = 28
	BF16 Type = 30
)

// TypeInfo is the layout of a type: BlockBytes bytes hold Block values.
type TypeInfo struct {
	Name       string
	Block      int64
	BlockBytes int64
	// Quantised is true where values are rounded to a grid chosen per block.
	Quantised bool
	// Bits per value of the grid (4 for q4_0), or the width of a plain type.
	Bits int
}

// types is ggml.c's type_traits table (name, block, size). Gaps in the
// numbering are types that upstream removed.
var types = map[Type]TypeInfo{
	0: {"f32", 1, 4, false, 32}, 1: {"f16", 1, 2, false, 16},
	2: {"q4_0", 32, 18, true, 4}, 3: {"q4_1", 32, 20, true, 4},
	6: {"q5_0", 32, 22, true, 5}, 7: {"q5_1", 32, 24, true, 5},
	8: {"q8_0", 32, 34, true, 8}, 9: {"q8_1", 32, 36, true, 8},
	10: {"q2_K", 256, 84, true, 2}, 11: {"q3_K", 256, 110, true, 3},
	12: {"q4_K", 256, 144, true, 4}, 13: {"q5_K", 256, 176, true, 5},
	14: {"q6_K", 256, 210, true, 6}, 15: {"q8_K", 256, 292, true, 8},
	16: {"iq2_xxs", 256, 66, true, 2}, 17: {"iq2_xs", 256, 74, true, 2},
	18: {"iq3_xxs", 256, 98, true, 3}, 19: {"iq1_s", 256, 50, true, 1},
	20: {"iq4_nl", 32, 18, true, 4}, 21: {"iq3_s", 256, 110, true, 3},
	22: {"iq2_s", 256, 82, true, 2}, 23: {"iq4_xs", 256, 136, true, 4},
	24: {"i8", 1, 1, false, 8}, 25: {"i16", 1, 2, false, 16},
	26: {"i32", 1, 4, false, 32}, 27: {"i64", 1, 8, false, 64},
	28: {"f64", 1, 8, false, 64}, 29: {"iq1_m", 256, 56, true, 1},
	30: {"bf16", 1, 2, false, 16}, 34: {"tq1_0", 256, 54, true, 2},
	35: {"tq2_0", 256, 66, true, 2}, 39: {"mxfp4", 32, 17, true, 4},
	40: {"nvfp4", 64, 36, true, 4}, 41: {"q1_0", 128, 18, true, 1},
	42: {"q2_0", 64, 18, true, 2},
}

// Info gives a type's layout, and false for a number that upstream does not
// define (or has removed).
func (t Type) Info() (TypeInfo, bool) {
	i, ok := types[t]
	return i, ok
}

func (t Type) String() string {
	if i, ok := types[t]; ok {
		return i.Name
	}
	return fmt.Sprintf("ggml_type(%d)", uint32(t))
}

// FType is the header's summary of the large matrices' type (enum ggml_ftype),
// without the version of the quantisation.
type FType int32

// quantisationVersionFactor is GGML_QNT_VERSION_FACTOR.
const quantisationVersionFactor = 1000

var ftypes = map[FType]Type{
	0: F32, 1: F16, 2: Q4_0, 3: Q4_1, 4: Q4_1, 7: Q8_0, 8: Q5_0, 9: Q5_1,
	10: Q2_K, 11: Q3_K, 12: Q4_K, 13: Q5_K, 14: Q6_K, 15: 16, 16: 17, 17: 18,
	18: 19, 19: 20, 20: 21, 21: 22, 22: 23, 23: 29, 24: BF16, 25: 39, 26: 40,
	27: 41, 28: 42,
}

// Type gives the type of the large matrices that an ftype announces, and
// false for a number that upstream refuses ("bad ftype value"). Upstream's
// ggml_ftype_to_ggml_type is the source; it refuses 4 as well.
func (f FType) Type() (Type, bool) {
	t, ok := ftypes[f]
	return t, ok && f != 4
}

func (f FType) String() string {
	if t, ok := f.Type(); ok {
		return t.String()
	}
	return fmt.Sprintf("ftype(%d)", int32(f))
}
