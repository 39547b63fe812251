// Package statement builds and reads receipts: in-toto statements that bind what was built, what ran,
// what was judged and by which policy, by digest.
//
// A receipt is an in-toto Statement v1 in canonical bytes (RFC 8785) whose predicate has the type
// [PredicateType], described in docs/receipt.md and docs/receipt.schema.json. Its subjects are the
// whisper-cli, the model and the encoder, each a whole: the encoder's digest is the tree digest of
// package tree, so that no part of it verifies alone. Nothing volatile is in it: no time, host, path or
// user. The same inputs give the same bytes.
//
// A receipt is written whatever the verdict. It can say pass only if every judgement that its policy
// requires is there and passed, and if what was judged is what is bound.
package statement
