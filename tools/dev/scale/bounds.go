package main

import "github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml"

// inspectBound is what inspecting a model, alone or with an encoder whose weights are not compressed, may take, whatever its size.
const inspectBound = 64 * megabyte

// writeBound is twice the largest tensor, and 64 MB.
func writeBound(h ggml.Hyperparameters) int64 {
	d := int64(h.AudioState)
	return 2*4*max(4*d*d, int64(h.AudioCtx)*d, 3*d*d) + inspectBound
}

// evaluationBound is the weights once, as they lie in the file, and the values in between: 64 MB for the program itself,
// and of float32 the widened residual stream with queries, keys and values, a hidden layer of the MLP going in and coming
// out, and the matrix that is being multiplied, packed.
func evaluationBound(h ggml.Hyperparameters, weights int64) int64 {
	d, ctx := int64(h.AudioState), int64(h.AudioCtx)
	return weights + 4*(5*ctx*d+2*4*ctx*d+2*4*d*d) + inspectBound
}

// referenceBound is what the float64 reference takes beside it: the same values in float64 with one head's scores, one
// matrix as read, decoded and packed, and as much again that the collector has not yet taken back.
func referenceBound(h ggml.Hyperparameters) int64 {
	d, ctx := int64(h.AudioState), int64(h.AudioCtx)
	return 2 * (8*(6*ctx*d+4*ctx*d+ctx*ctx) + (8+4)*4*d*d)
}

// flops counts the multiplications and additions of one encoding's products.
func flops(h ggml.Hyperparameters) float64 {
	d, ctx, mels := float64(h.AudioState), float64(h.AudioCtx), float64(h.Mels)
	conv := 2*2*ctx*d*3*mels + 2*ctx*d*3*d
	layer := 2*ctx*12*d*d + 2*2*ctx*ctx*d
	return conv + float64(h.AudioLayer)*layer
}
