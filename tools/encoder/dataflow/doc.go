// Package dataflow finds where a Core ML program uses the tensors of a Whisper encoder.
//
// Names do not survive conversion, and that a constant has the right values says
// nothing about what reads it. What tells a tensor's place is what the program
// computes there. So the program is evaluated once, in float32 and at a few
// positions (reduce.go), beside the definition of the encoder (package reference)
// with the same mel, and each step of the definition is looked for among the
// program's values, whatever their names, order and layout (trace.go):
//
//   - steps of the residual stream (after the convolutions and positions, and after
//     each half of each layer) and the output say that the program computes the model;
//   - the steps between (each norm, projection and activation) say which operation
//     stands where one tensor of the model has its role.
//
// Conversions that fuse, split, fold, transpose, rename or reorder compute the same
// steps. A program that reads another layer's matrix, or key for value, does not.
//
// One evaluation says nothing of a program that chooses by its input, so one that compares, selects
// or indexes by it is not followed (choice.go).
package dataflow
