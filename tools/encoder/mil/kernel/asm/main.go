// Command asm writes the AVX2 assembly of package kernel.
//
// It lives in a module of its own so that avo, which only generates, does not
// take part in the version selection of the product. From this directory:
//
//	go run . -out ../kernel_amd64.s -stubs ../stubs_amd64.go -pkg kernel
//
// The generated files are checked in; a test regenerates and compares them.
//
// All routines keep one rule: what is computed for one element depends on that
// element's operands and on the row length alone, never on how rows are spread
// over threads. They need AVX2, FMA and F16C; those called Wide need AVX-512F
// besides.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!purego")
	cpuQueries()
	gemm()
	wideGemm(false)
	wideGemm(true)
	rowMax(false)
	rowMax(true)
	expRow(false, false)
	expRow(false, true)
	expRow(true, false)
	expRow(true, true)
	scaleRow()
	geluRow(false)
	geluRow(true)
	layerNormRow()
	layerNormWide()
	binaryRows()
	half()
	transposePack()
	rowsPack(false)
	rowsPack(true)
	windows(1, false)
	windows(2, false)
	windows(1, true)
	windows(2, true)
	halfRows()
	halfRowsWide()
	narrowRow()
	expand()
	dequantize(false)
	dequantize(true)
	transposeHalves()
	fetchRows()
	Generate()
}
