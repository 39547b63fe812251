package parity

import "github.com/coreml-gate/rules_coreml_gate/tools/reason"

// Reasons are the codes of this package.
var Reasons = reason.Table{
	{Code: "PARITY_SNR", Class: reason.Fail, Means: "The signal-to-noise ratio against the reference is below the policy's.", Do: "See the worst frames and channels; coregate parity --bisect names the first operation that differs."},
	{Code: "PARITY_COSINE", Class: reason.Fail, Means: "The cosine similarity with the reference is below the policy's.", Do: "See the worst frames and channels."},
	{Code: "PARITY_SHAPE", Class: reason.Fail, Means: "The output has another shape or number of values than the reference.", Do: "Check the contract first (coregate inspect); the runtime would copy past or short of its buffer."},
	{Code: "PARITY_TYPE", Class: reason.Fail, Means: "The output's elements are not float32. The runtime copies them as float32 regardless.", Do: "Convert with a float32 output, whatever the compute precision."},
	{Code: "PARITY_NAN", Class: reason.Fail, Means: "The output holds values that are not numbers.", Do: "Look for overflow in float16: convert in float32, or scale the offending layer."},
	{Code: "PARITY_INFINITE", Class: reason.Fail, Means: "The output holds infinities.", Do: "Look for overflow in float16."},
	{Code: "PARITY_CONSTANT", Class: reason.Fail, Means: "Every value of the output is the same: the prediction wrote nothing, or the encoder computes nothing.", Do: "Run the prediction alone and read its error (coremlprobe on a Mac, coregate predict anywhere)."},
	{Code: "PARITY_ZERO_FRAMES", Class: reason.Fail, Means: "Frames of the output are zero that are not zero in the reference. A cosine over the whole may hardly show it.", Do: "Find the operation that leaves them out."},
	{Code: "PARITY_TRANSPOSED", Class: reason.Fail, Means: "The output is the reference with channels and frames changed over.", Do: "Transpose the output in the model."},
	{Code: "PARITY_GAIN", Class: reason.Fail, Means: "The output is the reference times a factor, which no cosine shows.", Do: "Compare the last layer's weights with the checkpoint's."},
	{Code: "PARITY_SHIFTED", Class: reason.Fail, Means: "The output is the reference with its frames moved.", Do: "Check padding and the feeding of the mel."},
	{Code: "PARITY_REVERSED", Class: reason.Fail, Means: "The output is the reference with its frames in reverse order.", Do: "Check the order of the mel's frames."},
	{Code: "PARITY_STRIDES", Class: reason.Fail, Means: "The output begins right and slides away: its rows have another length in memory than a plain copy assumes.", Do: "Make the output contiguous; the runtime's bridge ignores strides."},
	{Code: "PREDICTION_FAILED", Class: reason.Fail, Means: "The encoder gave no output for the mel. The runtime would go on with memory that was never written.", Do: "Read the error; names and shapes are the usual cause (coregate inspect)."},
	{Code: "EVALUATION_UNSUPPORTED", Class: reason.Inconclusive, Means: "The encoder's program uses something that cannot be evaluated here.", Do: "See the obstacles; predict on a Mac and give its tensor with --candidate."},
	{Code: "SIDES_SWAPPED", Class: reason.Refuse, Means: "What was given as the reference says that it is a candidate, or the other way round. The reference is the signal.", Do: "Exchange them."},
	{Code: "MEL_DIFFERS", Class: reason.Refuse, Means: "The two sides were fed different mels, so their outputs say nothing about each other.", Do: "Feed both sides the same mel; coregate mel writes it."},
	{Code: "MEL_UNKNOWN", Class: reason.Refuse, Means: "A side does not say which mel it was fed.", Do: "Put the mel's digest into the sidecar (mel_sha256; coregate mel prints it)."},
	{Code: "REFERENCE_UNFIT", Class: reason.Refuse, Means: "The reference is not numbers, is constant, or has a shape that no encoder's output has.", Do: "Make the reference again."},
	{Code: "REFERENCE_SIDECAR", Class: reason.Refuse, Means: "A reference tensor came without the sidecar that says how it was made, or with one that is malformed.", Do: "Write FILE.json beside it: see docs/parity.md."},
	{Code: "REFERENCE_TERMS", Class: reason.Refuse, Means: "The reference was not made on the terms that make it one: float32, evaluation mode, CPU, eager attention.", Do: "Make it again on these terms."},
	{Code: "REFERENCE_COARSE", Class: reason.Refuse, Means: "The encoder's weights are finer than the .bin's, so the .bin is no reference for them.", Do: "Give the source model's own output with --reference."},
	{Code: "REFERENCE_PAIRING", Class: reason.Fail, Means: "The encoder does not hold the model's own weights.", Do: "Convert the encoder from the checkpoint that the .bin was made from."},
	{Code: "POLICY_KIND", Class: reason.Refuse, Means: "The policy is not one for parity, or is not frozen.", Do: "Use a frozen parity policy: fp32_v2, or the profile for the encoder's precision."},
	{Code: "POLICY_PRECISION", Class: reason.Refuse, Means: "The policy is for encoders of another precision than this one was found to have.", Do: "Use the profile for the precision found. Only fp32_v2 satisfies the release gate."},
	{Code: "POLICY_NOT_GATE", Class: reason.Note, Means: "The policy is a profile for a coarser precision and does not satisfy the release gate, which asks for fp32_v2.", Do: "Nothing, where a coarser encoder is meant."},
	{Code: "PACKAGE_NOT_COMPILED", Class: reason.Note, Means: "What was measured is an .mlpackage. It does not stand for the compiled artifact that ships.", Do: "Measure the .mlmodelc."},
	{Code: "EMULATED_UNITS", Class: reason.Note, Means: "The candidate was evaluated from the program's definition on this host, not by Core ML on any compute unit.", Do: "Run the gate on a Mac for the physical lane."},
	{Code: "FIRST_DIFFERENCE", Class: reason.Note, Means: "The first point on the way through the encoder at which candidate and reference differ by more than the policy allows.", Do: "Compare that operation's weights and arguments."},
}
