package ggml

import (
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/half"
)

// Float16ToFloat32 widens an IEEE 754 half. Every half has an exact float32;
// NaN payloads are kept.
func Float16ToFloat32(h uint16) float32 { return half.ToFloat32(h) }

// Float32ToFloat16 rounds to the nearest half, ties to even; values beyond the
// range become infinities, NaN stays NaN.
func Float32ToFloat16(f float32) uint16 { return half.FromFloat32(f) }

// bfloat16ToFloat32 widens a bfloat16.
func bfloat16ToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
