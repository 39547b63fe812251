package artifact

import "github.com/coreml-gate/rules_coreml_gate/tools/base/reason"

// Reasons are the codes of this package. MODEL_NAME, MODEL_NOT_GGML,
// MODEL_TEST_STUB and MODEL_MISSING mean what they mean to one who judges a log.
var Reasons = reason.Table{
	// The .bin.
	{Code: "MODEL_MISSING", Class: reason.Refuse, Means: "The model's file could not be opened.", Do: "Check the path."},
	{Code: "MODEL_NOT_GGML", Class: reason.Refuse, Means: "What was given as the model is no ggml model: an .mlmodelc or a file inside it, an LFS pointer, a download that failed.", Do: "Give the ggml-NAME.bin; the encoder is found beside it."},
	{Code: "MODEL_TRUNCATED", Class: reason.Refuse, Means: "The model's file ends before its contents do.", Do: "Copy or download it again and compare its SHA-256."},
	{Code: "MODEL_MALFORMED", Class: reason.Refuse, Means: "A number in the model's file cannot be right.", Do: "Download or convert it again."},
	{Code: "MODEL_INCOMPLETE", Class: reason.Refuse, Means: "The model lacks tensors that its own header calls for, or has others, or of other shapes or types.", Do: "Convert it again; the runtime refuses it."},
	{Code: "MODEL_TEST_STUB", Class: reason.Refuse, Means: "The model is upstream's stub for tests (for-tests-ggml-….bin), which has no tensors.", Do: "Use a real model."},
	{Code: "MODEL_NAME", Class: reason.Refuse, Means: "The model's file name does not end in .bin. The encoder's path is derived by cutting the model's path at its last dot, which may then be in a directory's name.", Do: "Name the model ggml-NAME.bin."},

	// Where the encoder lies.
	{Code: "ENCODER_MISSING", Class: reason.Refuse, Means: "Nothing stands at the path at which the runtime looks for the encoder.", Do: "Put the compiled encoder beside the model under the derived name (coregate derive MODEL.bin)."},
	{Code: "ENCODER_NAME", Class: reason.Refuse, Means: "The encoder is not at the path that the runtime derives from the model's: it would not be opened, or another one would.", Do: "Rename or move it as coregate derive says; check first that it belongs to this model."},
	{Code: "ENCODER_AMBIGUOUS", Class: reason.Refuse, Means: "The folder holds more than one candidate, and nothing says which one is meant.", Do: "Name the model and the encoder."},
	{Code: "ARTIFACT_NOT_COMPILED", Class: reason.Refuse, Means: "There is an .mlpackage (or .mlmodel) where the runtime wants a compiled .mlmodelc; a conversion may have been interrupted.", Do: "Compile it: xcrun coremlc compile X.mlpackage DIR; needs full Xcode."},

	// The folder.
	{Code: "ARTIFACT_UNKNOWN", Class: reason.Refuse, Means: "What was given as the encoder is no Core ML artifact.", Do: "Give an .mlmodelc or .mlpackage folder."},
	{Code: "ARTIFACT_FORM", Class: reason.Refuse, Means: "The artifact's name and its contents are of different forms: it was renamed, or files of two forms were mixed.", Do: "Give the folder its own extension back. A compiled .mlmodelc has no Manifest.json and cannot be compiled again; an .mlpackage must be."},
	{Code: "ARTIFACT_IS_ARCHIVE", Class: reason.Refuse, Means: "The artifact is still packed.", Do: "Unpack it; the runtime opens folders."},
	{Code: "ARCHIVE_ESCAPE", Class: reason.Refuse, Means: "The archive holds names or links that would be written outside the folder it is unpacked to.", Do: "Do not unpack it. Get it from whoever made it."},
	{Code: "ARTIFACT_LINK", Class: reason.Refuse, Means: "A symbolic link stands inside the artifact. What it points at is not part of what is shipped and hashed.", Do: "Replace the link by a copy."},
	{Code: "ARTIFACT_PATH_ESCAPE", Class: reason.Refuse, Means: "A path inside the artifact (in its program or manifest, or a link's target) leads out of it.", Do: "Do not load it. Convert it again."},
	{Code: "ARTIFACT_SPECIAL_FILE", Class: reason.Refuse, Means: "The artifact holds something that is neither a file nor a folder.", Do: "Remove it."},
	{Code: "ARTIFACT_NAME_COLLISION", Class: reason.Refuse, Means: "Two names in the artifact are one name on a disk that ignores case or composes accents, as Macs' disks do.", Do: "Remove or rename one."},
	{Code: "ARTIFACT_NAME_UNSAFE", Class: reason.Refuse, Means: "A name in the artifact holds control characters, a backslash, or bytes that are no text.", Do: "Rename it."},
	{Code: "ARTIFACT_TOO_LARGE", Class: reason.Refuse, Means: "The artifact holds more files, deeper folders or more bytes than any encoder does.", Do: "Check what it is."},
	{Code: "ARTIFACT_INCOMPLETE", Class: reason.Refuse, Means: "A file that the artifact needs is missing or empty: weights, program or description.", Do: "Copy the whole folder again, or convert again."},
	{Code: "CONVERSION_INTERRUPTED", Class: reason.Refuse, Means: "The artifact looks like one whose writing was broken off: temporary files, a manifest without its items, a package without data.", Do: "Delete it and convert again."},
	{Code: "LFS_POINTER", Class: reason.Refuse, Means: "A file of the artifact is a git-lfs pointer instead of its content.", Do: "Run git lfs pull, then copy again."},
	{Code: "NESTED_DUPLICATE", Class: reason.Refuse, Means: "The artifact contains an artifact, often itself: an archive was unpacked into a folder of the same name.", Do: "Move the inner folder out."},
	{Code: "EXTRA_FILE", Class: reason.Refuse, Means: "The artifact holds a file that nothing in it refers to. What is not accounted for is not shipped.", Do: "Remove it, or find out which tool wrote it."},
	{Code: "ARTIFACT_MALFORMED", Class: reason.Refuse, Means: "A file of the artifact cannot be read as what it must be.", Do: "Convert or compile it again."},
	{Code: "WEIGHTS_MISMATCH", Class: reason.Refuse, Means: "The program's references do not fit the weight file beside it: program and weights are of different builds.", Do: "Copy program and weights from the same build."},

	// What it is.
	{Code: "NOT_MLPROGRAM", Class: reason.Fail, Means: "The encoder is not an ML program; neural networks compute in float16 and cannot be read or compared here.", Do: "Convert with convert_to=\"mlprogram\"."},
	{Code: "PIPELINE", Class: reason.Fail, Means: "The artifact is a pipeline of several models.", Do: "Ship the encoder alone."},
	{Code: "MULTI_FUNCTION", Class: reason.Fail, Means: "The program has more than one function; the runtime's bridge knows only one.", Do: "Save the encoder's function alone."},
	{Code: "UPDATABLE", Class: reason.Fail, Means: "The model is updatable: its weights may change on the device.", Do: "Convert it without update parameters."},
	{Code: "SPEC_VERSION", Class: reason.Fail, Means: "The specification version is unknown, or does not fit what the artifact holds.", Do: "Convert with a coremltools release that Apple's system knows."},
	{Code: "SPEC_VERSION_TOO_NEW", Class: reason.Fail, Means: "The encoder needs a newer macOS than the stated minimum.", Do: "Convert with an older minimum_deployment_target, or state a newer minimum."},
	{Code: "INTERFACE_CONTRADICTION", Class: reason.Fail, Means: "The program and the model's description disagree about an input or output.", Do: "Convert again; parts of two builds may have been mixed."},

	// Features.
	{Code: "INPUT_NAME", Class: reason.Fail, Means: "The runtime's bridge asks for the input logmel_data. Under another name the prediction fails silently.", Do: "Convert with the input named logmel_data."},
	{Code: "OUTPUT_NAME", Class: reason.Fail, Means: "The runtime's bridge reads the output named output. Under another name it copies nothing.", Do: "Convert with the output named output."},
	{Code: "INPUT_EXTRA", Class: reason.Fail, Means: "The model wants inputs that the runtime does not give.", Do: "Convert with one input."},
	{Code: "OUTPUT_EXTRA", Class: reason.Fail, Means: "The model has outputs that the runtime does not know.", Do: "Convert with one output."},
	{Code: "FEATURE_OPTIONAL", Class: reason.Fail, Means: "An input is optional.", Do: "Make it required."},
	{Code: "FEATURE_IMAGE", Class: reason.Fail, Means: "A feature is an image, not a multi-array.", Do: "Convert with TensorType."},
	{Code: "FEATURE_SEQUENCE", Class: reason.Fail, Means: "A feature is a sequence, not a multi-array.", Do: "Convert with TensorType."},
	{Code: "FEATURE_DICTIONARY", Class: reason.Fail, Means: "A feature is a dictionary, not a multi-array.", Do: "Convert with TensorType."},
	{Code: "FEATURE_STATE", Class: reason.Fail, Means: "The model keeps state between predictions; the runtime gives it none.", Do: "Convert without states."},
	{Code: "FEATURE_SCALAR", Class: reason.Fail, Means: "A feature is a number, a string, or of no known kind; the runtime wants a multi-array.", Do: "Convert with TensorType."},
	{Code: "INPUT_TYPE", Class: reason.Fail, Means: "The input is not Float32.", Do: "Convert with dtype=np.float32 for the input, whatever the compute precision."},
	{Code: "OUTPUT_TYPE", Class: reason.Fail, Means: "The output is not Float32. The runtime copies it as float32 regardless: past its end, or as garbage.", Do: "Convert with dtype=np.float32 for the output."},
	{Code: "INPUT_FLEXIBLE", Class: reason.Fail, Means: "The input's shape may vary within a range.", Do: "Convert with a fixed shape."},
	{Code: "INPUT_ENUMERATED", Class: reason.Fail, Means: "The input's shape is one of a list.", Do: "Convert with a fixed shape."},
	{Code: "OUTPUT_FLEXIBLE", Class: reason.Fail, Means: "The output's shape is not fixed.", Do: "Convert with fixed shapes."},
	{Code: "N_MELS_MISMATCH", Class: reason.Fail, Means: "The encoder takes in another number of mel bands than the model has (80, or 128 for the large-v3 class).", Do: "Use the encoder of this very model."},
	{Code: "INPUT_SHAPE", Class: reason.Fail, Means: "The input's shape is not [1, n_mels, 2*n_audio_ctx]. The prediction fails silently.", Do: "Convert with the shape that the .bin's header gives; 3000 frames, not 1500."},
	{Code: "OUTPUT_SHAPE", Class: reason.Fail, Means: "The output's shape is not [1, n_audio_ctx, n_audio_state]. The runtime copies it unchecked: a larger one overruns the buffer, a smaller one leaves it half written.", Do: "Use the encoder of this very model."},
	{Code: "OUTPUT_CHANNEL_FIRST", Class: reason.Fail, Means: "The output has the right number of values, with channels before positions.", Do: "Transpose the output in the model."},

	// Does it belong to the .bin?
	{Code: "PAIRING_ABSENT", Class: reason.Fail, Means: "A tensor of the model's encoder is not among the Core ML encoder's weights: it is the encoder of another model.", Do: "Convert the encoder from the checkpoint that the .bin was made from."},
	{Code: "PAIRING_DIFFERS", Class: reason.Fail, Means: "A tensor of the model's encoder is among the Core ML encoder's weights with other values: another training state, or a damaged weight file.", Do: "Convert both from the same checkpoint."},
	{Code: "PAIRING_ORDER", Class: reason.Fail, Means: "The weights are the model's, but its layers stand in another order.", Do: "Convert again."},
	{Code: "PAIRING_UNREADABLE", Class: reason.Inconclusive, Means: "Weights on one side are stored in a way that cannot be decoded here, so whether the two belong together is not known.", Do: "See which tensor; convert with a scheme that is supported."},
	{Code: "PAIRING_FINER", Class: reason.Note, Means: "The encoder's weights are finer than the .bin's: the two agree after rounding, or within the steps of a quantised .bin. The .bin is then no reference for their numbers.", Do: "Give the source model's own reference to the parity gate."},
	{Code: "PAIRING_UNMATCHED", Class: reason.Note, Means: "The encoder has weights that are none of the model's encoder tensors.", Do: "Find out what they compute."},
	{Code: "ENCODER_ALONE", Class: reason.Inconclusive, Means: "The encoder was inspected without its model, so its shapes and weights could not be held against anything.", Do: "Give the model too: coregate inspect MODEL.bin ENCODER."},

	// Facts worth showing.
	{Code: "TORCH_UNTESTED", Class: reason.Note, Means: "The converter's torch is newer than the newest one that coremltools was tested with (2.7.0); it warns of unexpected errors.", Do: "Convert with torch 2.7.0 or older when numbers drift."},
	{Code: "PRODUCER_UNKNOWN", Class: reason.Note, Means: "The artifact does not say which converter made it.", Do: "Record the producer where it is made."},
}
