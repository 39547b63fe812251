// Package artifact judges a pair of files before anything runs: a ggml-*.bin
// and the Core ML encoder that the runtime would load beside it.
//
// The runtime checks nothing. A wrong feature name gives an encoder output
// that was never written; a wrong element type is copied as if it were float32;
// an output that is too large overruns its buffer; an encoder of another
// model's weights transcribes, fluently and wrongly. All of it can be seen in
// the bytes, on any host:
//
//   - Scan walks the artifact's folder and refuses what a folder that is
//     shipped must not hold: links, names that escape or collide, files that
//     nothing refers to;
//   - Inspect opens both sides and holds the encoder against the header of the
//     .bin (contract.go), its weights against the .bin's encoder tensors
//     (pairing.go), and states precision and producer as facts;
//   - package derive says where the runtime will look.
//
// Every finding has a code of the table Reasons. Nothing here runs a model.
package artifact
