// Package bridgetest holds our double of upstream's Core ML bridge against upstream's own, compiled over the stand-in for the
// framework: on every fault of the evaluator, and on outputs of any shape, type, strides and size. What each call returns, how
// many bytes it writes, which, and how the process ends must agree. docs/bridge.md has the table that the test makes.
package bridgetest
