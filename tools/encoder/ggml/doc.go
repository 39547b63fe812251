// Package ggml reads and writes the model files that whisper.cpp loads
// (ggml-*.bin), without whisper.cpp.
//
// The format, as src/whisper.cpp's whisper_model_load reads it. Everything is
// little-endian and nothing is aligned:
//
//	u32  magic 0x67676d6c (the bytes "lmgg")
//	i32  n_vocab, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer,
//	     n_text_ctx, n_text_state, n_text_head, n_text_layer, n_mels, ftype
//	i32  filter rows (mels), i32 filter columns (n_fft/2 + 1)
//	f32  rows*columns mel filters, row by row
//	i32  number of tokens; each: u32 length, that many bytes
//	...  tensors until the end of the file; each:
//	     i32 rank, i32 length of the name, i32 ggml_type,
//	     rank * i32 extents, innermost first, the name, the data
//
// ftype names the type of the large matrices, plus 1000 times the version of
// the quantisation. There is no tensor count: a file that ends after a whole
// tensor is complete as far as the format can tell, so Model.Check compares
// the directory with the tensors that the header's own numbers call for.
//
// Reading keeps only the directory in memory; data is read where it lies, and
// every length in the file is held against the size of the file before it is
// used for anything.
package ggml
