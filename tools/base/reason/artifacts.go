package reason

// Artifacts: codes.
const (
	ModelTruncated         = "MODEL_TRUNCATED"
	ModelMalformed         = "MODEL_MALFORMED"
	ModelIncomplete        = "MODEL_INCOMPLETE"
	EncoderMissing         = "ENCODER_MISSING"
	EncoderName            = "ENCODER_NAME"
	ArtifactNotCompiled    = "ARTIFACT_NOT_COMPILED"
	ArtifactUnknown        = "ARTIFACT_UNKNOWN"
	ArtifactForm           = "ARTIFACT_FORM"
	ArtifactIsArchive      = "ARTIFACT_IS_ARCHIVE"
	ArchiveEscape          = "ARCHIVE_ESCAPE"
	ArtifactLink           = "ARTIFACT_LINK"
	ArtifactHubCache       = "ARTIFACT_HUB_CACHE"
	ArtifactPathEscape     = "ARTIFACT_PATH_ESCAPE"
	ArtifactSpecialFile    = "ARTIFACT_SPECIAL_FILE"
	ArtifactNameCollision  = "ARTIFACT_NAME_COLLISION"
	ArtifactNameUnsafe     = "ARTIFACT_NAME_UNSAFE"
	ArtifactTooLarge       = "ARTIFACT_TOO_LARGE"
	ArtifactIncomplete     = "ARTIFACT_INCOMPLETE"
	ConversionInterrupted  = "CONVERSION_INTERRUPTED"
	LFSPointer             = "LFS_POINTER"
	NestedDuplicate        = "NESTED_DUPLICATE"
	ExtraFile              = "EXTRA_FILE"
	FinderFile             = "FINDER_FILE"
	ArtifactMalformed      = "ARTIFACT_MALFORMED"
	ContainerVersion       = "CONTAINER_VERSION"
	WeightsMismatch        = "WEIGHTS_MISMATCH"
	WeightsUncovered       = "WEIGHTS_UNCOVERED"
	WeightsUnread          = "WEIGHTS_UNREAD"
	NotMLProgram           = "NOT_MLPROGRAM"
	Pipeline               = "PIPELINE"
	MultiFunction          = "MULTI_FUNCTION"
	Updatable              = "UPDATABLE"
	SpecVersion            = "SPEC_VERSION"
	SpecVersionTooNew      = "SPEC_VERSION_TOO_NEW"
	OperationUnknown       = "OPERATION_UNKNOWN"
	OperationTooNew        = "OPERATION_TOO_NEW"
	InterfaceContradiction = "INTERFACE_CONTRADICTION"
	InputName              = "INPUT_NAME"
	OutputName             = "OUTPUT_NAME"
	InputExtra             = "INPUT_EXTRA"
	OutputExtra            = "OUTPUT_EXTRA"
	FeatureOptional        = "FEATURE_OPTIONAL"
	FeatureImage           = "FEATURE_IMAGE"
	FeatureSequence        = "FEATURE_SEQUENCE"
	FeatureDictionary      = "FEATURE_DICTIONARY"
	FeatureState           = "FEATURE_STATE"
	FeatureScalar          = "FEATURE_SCALAR"
	InputType              = "INPUT_TYPE"
	OutputType             = "OUTPUT_TYPE"
	InputFlexible          = "INPUT_FLEXIBLE"
	InputEnumerated        = "INPUT_ENUMERATED"
	OutputFlexible         = "OUTPUT_FLEXIBLE"
	NMelsMismatch          = "N_MELS_MISMATCH"
	InputShape             = "INPUT_SHAPE"
	OutputShape            = "OUTPUT_SHAPE"
	OutputChannelFirst     = "OUTPUT_CHANNEL_FIRST"
	PairingAbsent          = "PAIRING_ABSENT"
	PairingDiffers         = "PAIRING_DIFFERS"
	PairingOrder           = "PAIRING_ORDER"
	PairingUnused          = "PAIRING_UNUSED"
	PairingPlace           = "PAIRING_PLACE"
	PlaceUnknown           = "PLACE_UNKNOWN"
	PairingRewritten       = "PAIRING_REWRITTEN"
	PairingUnreadable      = "PAIRING_UNREADABLE"
	PairingFiner           = "PAIRING_FINER"
	PairingUnmatched       = "PAIRING_UNMATCHED"
	EncoderAlone           = "ENCODER_ALONE"
	GeluApproximate        = "GELU_APPROXIMATE"
	PaletteScaled          = "PALETTE_SCALED"
	TorchUntested          = "TORCH_UNTESTED"
	ProducerUnknown        = "PRODUCER_UNKNOWN"
)

var artifacts = Table{
	// The .bin.
	{Code: ModelTruncated, Class: Refuse, Means: "The model's file ends before its contents do, or in something that is no whole tensor.", Do: "Copy or download it again and compare its SHA-256."},
	{Code: ModelMalformed, Class: Refuse, Means: "The model's file holds a number that cannot be right, or a type of tensor that cannot be decoded.", Do: "Download or convert it again."},
	{Code: ModelIncomplete, Class: Refuse, Means: "The model lacks tensors that its own header calls for, or has others, or of other shapes or types.", Do: "Convert it again; the runtime refuses it."},
	{Code: ModelVocabulary, Class: Refuse, Means: "The model has a number of tokens that the runtime's tables do not fit. It derives languages and special tokens from n_vocab alone: with another number it takes one token for another, or aborts.", Do: "Keep the vocabulary of the model that was tuned."},
	{Code: ModelFloat32, Class: Refuse, Means: "The model's matrices are float32. The runtime's own encoder aborts on them in its convolution, so that nothing can be compared with it.", Do: "Convert the .bin in float16 for the gate. The float32 file serves as a reference of numbers (coregate parity --model)."},

	// Where the encoder lies.
	{Code: EncoderMissing, Class: Refuse, Means: "There is nothing at the path where the runtime looks for the encoder.", Do: "Put the compiled encoder beside the model under the derived name (coregate derive MODEL.bin)."},
	{Code: EncoderName, Class: Refuse, Means: "The encoder is not at the path that the runtime derives from the model's: it would not be opened, or another one would.", Do: "Rename or move it as coregate derive says; check first that it belongs to this model."},
	{Code: ArtifactNotCompiled, Class: Refuse, Means: "There is an .mlpackage (or .mlmodel) where the runtime wants a compiled .mlmodelc; a conversion may have been interrupted.", Do: "Compile it: xcrun coremlc compile X.mlpackage DIR; needs full Xcode."},

	// The folder.
	{Code: ArtifactUnknown, Class: Refuse, Means: "The encoder given is not a Core ML artifact.", Do: "Give an .mlmodelc or .mlpackage folder."},
	{Code: ArtifactForm, Class: Refuse, Means: "The artifact's name and its contents are of different forms: it was renamed, or files of two forms were mixed.", Do: "Give the folder its own extension back. A compiled .mlmodelc has no Manifest.json and cannot be compiled again; an .mlpackage must be."},
	{Code: ArtifactIsArchive, Class: Refuse, Means: "The artifact is still packed.", Do: "Unpack it; the runtime opens folders."},
	{Code: ArchiveEscape, Class: Refuse, Means: "The archive holds names or links that would be written outside the folder it is unpacked to.", Do: "Do not unpack it. Get it from whoever made it."},
	{Code: ArtifactLink, Class: Refuse, Means: "The artifact contains a symbolic link. Its target is neither shipped nor hashed.", Do: "Replace the link by a copy."},
	{Code: ArtifactHubCache, Class: Refuse, Means: "The files of the artifact are links into a download cache (…/blobs/…), as the Hugging Face hub keeps them. What ships must be the files themselves.", Do: "Copy the folder with its links followed (cp -RL FROM TO), or download with --local-dir."},
	{Code: ArtifactPathEscape, Class: Refuse, Means: "A path inside the artifact (in its program or manifest, or a link's target) leads out of it.", Do: "Do not load it. Convert it again."},
	{Code: ArtifactSpecialFile, Class: Refuse, Means: "The artifact holds something that is neither a file nor a folder.", Do: "Remove it."},
	{Code: ArtifactNameCollision, Class: Refuse, Means: "Two names in the artifact are one name on a disk that ignores case or composes accents, as Macs' disks do.", Do: "Remove or rename one."},
	{Code: ArtifactNameUnsafe, Class: Refuse, Means: "A name in the artifact holds control characters, a backslash, or bytes that are not UTF-8.", Do: "Rename it."},
	{Code: ArtifactTooLarge, Class: Refuse, Means: "The artifact holds more files, deeper folders or more bytes than any encoder does.", Do: "Check what it is."},
	{Code: ArtifactIncomplete, Class: Refuse, Means: "A file that the artifact needs is missing or empty: weights, program or description.", Do: "Copy the whole folder again, or convert again."},
	{Code: ConversionInterrupted, Class: Refuse, Means: "The artifact looks like one whose writing was broken off: temporary files, a manifest without its items, a package without data.", Do: "Delete it and convert again."},
	{Code: LFSPointer, Class: Refuse, Means: "A file of the artifact is a git-lfs pointer instead of its content.", Do: "Run git lfs pull, then copy again."},
	{Code: NestedDuplicate, Class: Refuse, Means: "The artifact contains an artifact, often itself: an archive was unpacked into a folder of the same name.", Do: "Move the inner folder out."},
	{Code: ExtraFile, Class: Refuse, Means: "The artifact holds a file that nothing in it refers to. What is not accounted for is not shipped.", Do: "Remove it, or find out which tool wrote it."},
	{Code: FinderFile, Class: Note, Means: "The Finder or an archiver left a file of its own (.DS_Store, ._NAME) in the artifact. Core ML ignores it; the digest does not.", Do: "Remove it before the artifact is hashed: dot_clean, or find . -name '._*' -delete."},
	{Code: ArtifactMalformed, Class: Refuse, Means: "A file of the artifact cannot be read as what it must be.", Do: "Convert or compile it again."},
	{Code: ContainerVersion, Class: Refuse, Means: "coremldata.bin is of a container version that is not known here, so nothing behind the version can be read.", Do: "Compile the model again with a current Xcode."},
	{Code: WeightsMismatch, Class: Refuse, Means: "The program's references do not fit the weight file beside it: program and weights are of different builds.", Do: "Copy program and weights from the same build."},
	{Code: WeightsUncovered, Class: Refuse, Means: "A weight file holds bytes that belong to no weight. What is not accounted for is not shipped.", Do: "Convert or compile it again, and find out which tool wrote them."},
	{Code: WeightsUnread, Class: Note, Means: "A weight file holds weights that the program does not refer to.", Do: "Nothing; a new conversion drops them."},

	// What it is.
	{Code: NotMLProgram, Class: Fail, Means: "The encoder is not an ML program; neural networks compute in float16 and cannot be read or compared here.", Do: "Convert with convert_to=\"mlprogram\"."},
	{Code: Pipeline, Class: Fail, Means: "The artifact is a pipeline of several models.", Do: "Ship the encoder alone."},
	{Code: MultiFunction, Class: Fail, Means: "The program has more than one function; the runtime's bridge knows only one.", Do: "Save the encoder's function alone."},
	{Code: Updatable, Class: Fail, Means: "The model is updatable: its weights may change on the device.", Do: "Convert it without update parameters."},
	{Code: SpecVersion, Class: Fail, Means: "The specification version is unknown, or does not fit what the artifact holds.", Do: "Convert with a coremltools release that Apple's system knows."},
	{Code: SpecVersionTooNew, Class: Fail, Means: "The encoder needs a newer macOS than the stated minimum.", Do: "Convert with an older minimum_deployment_target, or state a newer minimum."},
	{Code: OperationUnknown, Class: Fail, Means: "The program holds an operation that no operation set of Core ML has. Core ML refuses the model.", Do: "Convert again, and find out what changed the program."},
	{Code: OperationTooNew, Class: Fail, Means: "The program uses an operation that its operation set does not have: a later one brought it. Core ML refuses the model.", Do: "Convert with a minimum_deployment_target that has the operation."},
	{Code: InterfaceContradiction, Class: Fail, Means: "The program and the model's description disagree about an input or output.", Do: "Convert again; parts of two builds may have been mixed."},

	// Features.
	{Code: InputName, Class: Fail, Means: "The runtime's bridge asks for the input logmel_data. Under another name the prediction fails silently.", Do: "Convert with the input named logmel_data."},
	{Code: OutputName, Class: Fail, Means: "The runtime's bridge reads the output named output. Under another name it copies nothing.", Do: "Convert with the output named output."},
	{Code: InputExtra, Class: Fail, Means: "The model wants inputs that the runtime does not give.", Do: "Convert with one input."},
	{Code: OutputExtra, Class: Fail, Means: "The model has outputs that the runtime does not know.", Do: "Convert with one output."},
	{Code: FeatureOptional, Class: Fail, Means: "An input is optional.", Do: "Make it required."},
	{Code: FeatureImage, Class: Fail, Means: "A feature is an image, not a multi-array.", Do: "Convert with TensorType."},
	{Code: FeatureSequence, Class: Fail, Means: "A feature is a sequence, not a multi-array.", Do: "Convert with TensorType."},
	{Code: FeatureDictionary, Class: Fail, Means: "A feature is a dictionary, not a multi-array.", Do: "Convert with TensorType."},
	{Code: FeatureState, Class: Fail, Means: "The model keeps state between predictions; the runtime gives it none.", Do: "Convert without states."},
	{Code: FeatureScalar, Class: Fail, Means: "A feature is a number, a string, or of no known kind; the runtime wants a multi-array.", Do: "Convert with TensorType."},
	{Code: InputType, Class: Fail, Means: "The input is not Float32.", Do: "Convert with dtype=np.float32 for the input, whatever the compute precision."},
	{Code: OutputType, Class: Fail, Means: "The output is not Float32. The runtime copies it as float32 regardless: past its end, or as garbage.", Do: "Convert with dtype=np.float32 for the output."},
	{Code: InputFlexible, Class: Fail, Means: "The input's shape may vary within a range.", Do: "Convert with a fixed shape."},
	{Code: InputEnumerated, Class: Fail, Means: "The input's shape is one of a list.", Do: "Convert with a fixed shape."},
	{Code: OutputFlexible, Class: Fail, Means: "The output's shape is not fixed.", Do: "Convert with fixed shapes."},
	{Code: NMelsMismatch, Class: Fail, Means: "The encoder takes in another number of mel bands than the model has (80, or 128 for the large-v3 class).", Do: "Use the encoder of this very model."},
	{Code: InputShape, Class: Fail, Means: "The input's shape is not [1, n_mels, 2*n_audio_ctx]. The prediction fails silently.", Do: "Convert with the shape that the .bin's header gives; 3000 frames, not 1500."},
	{Code: OutputShape, Class: Fail, Means: "The output's shape is not [1, n_audio_ctx, n_audio_state]. The runtime copies it unchecked: a larger one overruns the buffer, a smaller one leaves it half written.", Do: "Use the encoder of this very model."},
	{Code: OutputChannelFirst, Class: Fail, Means: "The output has the right number of values, with channels before positions.", Do: "Transpose the output in the model."},

	// Does it belong to the .bin?
	{Code: PairingAbsent, Class: Fail, Means: "A tensor of the model's encoder is not among the Core ML encoder's weights, nor anything near it: it is the encoder of another model, or one of 3 bits and fewer whose values were not rounded to the nearest.", Do: "Convert the encoder from the checkpoint that the .bin was made from; if it was, compress its weights less."},
	{Code: PairingDiffers, Class: Fail, Means: "A tensor of the model's encoder is among the Core ML encoder's weights with other values: another training state, a damaged weight file, or compression that chose values by the output's error (GPTQ) and not the nearest.", Do: "Convert both from the same checkpoint. Compress by rounding to the nearest value, or make the .bin from the values that the compression chose (docs/artifacts.md)."},
	{Code: PairingUnused, Class: Fail, Means: "A tensor of the model's encoder is in a constant that no operation on the path to the output reads: the program computes with something else instead.", Do: "Convert again, and find out what changed the program."},
	{Code: PairingPlace, Class: Fail, Means: "The weights are the model's, but the program uses them in other places than the model does: another layer's matrix, key for value, a norm's gain for its bias. What it computes is not the model.", Do: "Convert again from the checkpoint; the line says where the program departs from the model."},
	{Code: PairingOrder, Class: Fail, Means: "The weights are the model's, but its layers are in another order.", Do: "Convert again."},
	{Code: PairingUnreadable, Class: Inconclusive, Means: "Weights on one side are stored in a way that cannot be decoded here, so whether the two belong together is not known.", Do: "See which tensor; convert with a scheme that is supported."},
	{Code: PlaceUnknown, Class: Inconclusive, Means: "The program holds an operation that cannot be evaluated here, so where it uses its weights is not known.", Do: "Convert to the operations that coregate mil ops lists."},
	{Code: PairingRewritten, Class: Note, Means: "The encoder holds tensors of the model in another form (fused, folded, computed). The program computes what the model computes.", Do: "Nothing; the parity gate measures the numbers."},
	{Code: PairingFiner, Class: Note, Means: "The encoder's weights are finer than the .bin's: the two agree after rounding, or within the steps of a quantised .bin. The .bin is then no reference for their numbers.", Do: "Give the source model's own reference to the parity gate."},
	{Code: PairingUnmatched, Class: Note, Means: "The encoder has weights that are none of the model's encoder tensors.", Do: "Find out what they compute."},
	{Code: EncoderAlone, Class: Inconclusive, Means: "The encoder was inspected without its model, so its shapes and weights could not be compared.", Do: "Give the model too: coregate inspect MODEL.bin ENCODER."},

	// Facts worth showing.
	{Code: GeluApproximate, Class: Note, Means: "The program computes GELU by an approximation; the model has the exact one. The two differ by up to 5e-4 in each activation, which the policies for float16 let pass.", Do: "Convert with the exact GELU, or look at the numbers (coregate parity): converters have swapped the two without a word."},
	{Code: PaletteScaled, Class: Note, Means: "Weights have a palette for each group of channels, or a scale for each channel. Of scaled palettes it is reported that macOS 26 aborts in mps.dequantize when such a model is loaded for the GPU or the Neural Engine. This was not tried here.", Do: "Load it on macOS 26 at the compute units that you ship for (coremlprobe), or palettise per tensor."},
	{Code: TorchUntested, Class: Note, Means: "The converter's torch is newer than the newest one that coremltools was tested with (2.7.0); it warns of unexpected errors.", Do: "Convert with torch 2.7.0 or older when numbers drift."},
	{Code: ProducerUnknown, Class: Note, Means: "The artifact does not say which converter made it.", Do: "Record the producer where it is made."},
}
