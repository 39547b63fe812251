// Package candidate answers what a proposed revision of upstream would mean for the compatibility patch.
//
// It reads the source, and does not compile it. Comments and texts are blanked, conditional code is taken
// as a Core ML build without fallback compiles it, and in what remains these questions are asked:
//
//   - does struct whisper_state initialise its batch, by the declaration, by the members of whisper_batch, or
//     because the state is value-initialised when it is made;
//   - which returns of whisper_init_state stand before the batch is first assigned, and which of them free the
//     state, hence the batch;
//   - is the free guarded by more than the state's own pointer: by a flag that is false until the batch is assigned,
//     which makes a return safe, or by a condition that only a human can judge;
//   - does the patch apply exactly, elsewhere, or not at all;
//   - are the markers, exit codes, encoder name, tensors and flags still there that the gates rely on.
//
// A form that the reader does not know is never taken for a safe one.
//
// The patch may go when four conditions are met (patches/README.md); [Answer] says of each whether it is met,
// not met or not run, and with what evidence. What was only run on the emulated lane is "met, emulated
// only", which is never enough to delete.
package candidate
