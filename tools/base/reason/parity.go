package reason

// Parity: codes.
const (
	ParitySNR             = "PARITY_SNR"
	ParityCosine          = "PARITY_COSINE"
	ParityShape           = "PARITY_SHAPE"
	ParityType            = "PARITY_TYPE"
	ParityNaN             = "PARITY_NAN"
	ParityInfinite        = "PARITY_INFINITE"
	ParityConstant        = "PARITY_CONSTANT"
	ParityZeroFrames      = "PARITY_ZERO_FRAMES"
	ParityTransposed      = "PARITY_TRANSPOSED"
	ParityGain            = "PARITY_GAIN"
	ParityShifted         = "PARITY_SHIFTED"
	ParityReversed        = "PARITY_REVERSED"
	ParityStrides         = "PARITY_STRIDES"
	ParityFrames          = "PARITY_FRAMES"
	ParityOverflow        = "PARITY_OVERFLOW"
	PredictionFailed      = "PREDICTION_FAILED"
	EvaluationUnsupported = "EVALUATION_UNSUPPORTED"
	IntegersInexact       = "INTEGERS_INEXACT"
	ParityAlias           = "PARITY_ALIAS"
	ParityInputChanged    = "PARITY_INPUT_CHANGED"
	LoadNotAsked          = "LOAD_NOT_ASKED"
	LoadFailed            = "LOAD_FAILED"
	LoadFallback          = "LOAD_FALLBACK"
	ProbeConfiguration    = "PROBE_CONFIGURATION"
	ProbeCrashed          = "PROBE_CRASHED"
	ProbeTimeout          = "PROBE_TIMEOUT"
	RepeatDiffers         = "REPEAT_DIFFERS"
	RepeatFailed          = "REPEAT_FAILED"
	RepeatMemory          = "REPEAT_MEMORY"
	RepeatAlignment       = "REPEAT_ALIGNMENT"
	RepeatNotOverlapped   = "REPEAT_NOT_OVERLAPPED"
	SidesSwapped          = "SIDES_SWAPPED"
	MelDiffers            = "MEL_DIFFERS"
	MelUnknown            = "MEL_UNKNOWN"
	ReferenceUnfit        = "REFERENCE_UNFIT"
	ReferenceSidecar      = "REFERENCE_SIDECAR"
	ReferenceTerms        = "REFERENCE_TERMS"
	PairingByReference    = "PAIRING_BY_REFERENCE"
	PlaceByNumbers        = "PLACE_BY_NUMBERS"
	ReferenceCoarse       = "REFERENCE_COARSE"
	PolicyKind            = "POLICY_KIND"
	PolicyPrecision       = "POLICY_PRECISION"
	PolicyNotGate         = "POLICY_NOT_GATE"
	PackageNotCompiled    = "PACKAGE_NOT_COMPILED"
	EmulatedUnits         = "EMULATED_UNITS"
	CandidateUnfit        = "CANDIDATE_UNFIT"
	CandidateEncoder      = "CANDIDATE_ENCODER"
	UnitsUnobserved       = "UNITS_UNOBSERVED"
	FirstDifference       = "FIRST_DIFFERENCE"
)

var parity = Table{
	{Code: ParitySNR, Class: Fail, Means: "The signal-to-noise ratio against the reference is below the policy's.", Do: "See the worst frames and channels; coregate parity --bisect names the first operation that differs."},
	{Code: ParityCosine, Class: Fail, Means: "The cosine similarity with the reference is below the policy's.", Do: "See the worst frames and channels."},
	{Code: ParityShape, Class: Fail, Means: "The output has another shape or number of values than the reference.", Do: "Check the contract first (coregate inspect); the runtime would copy past or short of its buffer."},
	{Code: ParityType, Class: Fail, Means: "The output's elements are not float32. The runtime copies them as float32 regardless.", Do: "Convert with a float32 output, whatever the compute precision."},
	{Code: ParityNaN, Class: Fail, Means: "The output holds values that are not numbers.", Do: "Look for overflow in float16: convert in float32, or scale the offending layer."},
	{Code: ParityInfinite, Class: Fail, Means: "The output holds infinities.", Do: "Look for overflow in float16."},
	{Code: ParityConstant, Class: Fail, Means: "Every value of the output is the same: the prediction wrote nothing, or the encoder computes nothing.", Do: "Run the prediction alone and read its error (coremlprobe on a Mac, coregate predict anywhere)."},
	{Code: ParityZeroFrames, Class: Fail, Means: "Frames of the output are zero where the reference's are not. The cosine over all frames may barely change.", Do: "Find the operation that skips them."},
	{Code: ParityTransposed, Class: Fail, Means: "The output is the reference with channels and frames changed over.", Do: "Transpose the output in the model."},
	{Code: ParityGain, Class: Fail, Means: "The output is the reference times a factor, which no cosine shows.", Do: "Compare the last layer's weights with the checkpoint's."},
	{Code: ParityShifted, Class: Fail, Means: "The output is the reference with its frames moved.", Do: "Check padding and the feeding of the mel."},
	{Code: ParityReversed, Class: Fail, Means: "The output is the reference with its frames in reverse order.", Do: "Check the order of the mel's frames."},
	{Code: ParityStrides, Class: Fail, Means: "The output begins right, slides away and does not come right again: its rows have another length in memory than a plain copy assumes.", Do: "Make the output contiguous; the runtime's bridge ignores strides."},
	{Code: ParityFrames, Class: Fail, Means: "A few frames of the output are wrong and the others are right: values overflowed there, or were skipped.", Do: "Run coregate parity --bisect, which names the operation that overflowed. Convert in float32, or keep that operation in float32."},
	{Code: ParityOverflow, Class: Note, Means: "An operation of the program gives values that float16 does not hold. What follows computes with infinities.", Do: "Keep that operation in float32 (coremltools: FP16ComputePrecision with op_selector)."},
	{Code: PredictionFailed, Class: Fail, Means: "The encoder gave no output for the mel. The runtime would go on with memory that was never written.", Do: "Read the error; names and shapes are the usual cause (coregate inspect)."},
	{Code: EvaluationUnsupported, Class: Inconclusive, Means: "The encoder's program uses something that cannot be evaluated here.", Do: "See the obstacles; predict on a Mac and give its tensor with --candidate."},
	{Code: IntegersInexact, Class: Note, Means: "The program has integers above 2^24. Core ML computes them in float32, which does not hold every one of them.", Do: "Make sure that no result rests on their last digits."},
	{Code: ParityAlias, Class: Fail, Means: "The output lies in the input's memory, so what the runtime copies may be overwritten, or be the mel itself.", Do: "Add an operation that gives the output its own memory."},
	{Code: ParityInputChanged, Class: Fail, Means: "The prediction wrote to the mel that it was fed. The runtime feeds the same memory again.", Do: "Find the operation that works in place."},
	{Code: LoadNotAsked, Class: Refuse, Means: "Core ML was not asked to load the encoder, because it is not a compiled model (missing, a file, or without coremldata.bin) and Core ML may abort on it.", Do: "Compile the package (xcrun coremlc compile), and see coregate inspect."},
	{Code: LoadFailed, Class: Fail, Means: "Core ML loads the encoder at no set of compute units. The runtime's bridge discards this error.", Do: "Read Core ML's own errors, one for each set that was asked for, in order."},
	{Code: LoadFallback, Class: Fail, Means: "Core ML loads the encoder only at fewer compute units than the runtime's bridge asks for (all), so the runtime would refuse. Good numbers at fewer units are not parity at all units.", Do: "Read the first attempt's error; convert for this system, or ship another encoder for it."},
	{Code: ProbeConfiguration, Class: Fail, Means: "coremlprobe asked Core ML for something else than the runtime's bridge does, so its answer is another's.", Do: "Use the coremlprobe of this project; the bridge sets computeUnits to all and nothing else."},
	{Code: ProbeCrashed, Class: Fail, Means: "Core ML brought the process down while it loaded the encoder or predicted. The runtime would crash in the same place.", Do: "Note chip and build of macOS: such crashes belong to them. Convert with another target, or compute precision."},
	{Code: ProbeTimeout, Class: Inconclusive, Means: "Core ML had not answered when the deadline passed. A first load on a device compiles the model, which can take minutes, for some models hours.", Do: "Raise the deadline. Do not kill the system's compiler service."},
	{Code: RepeatDiffers, Class: Fail, Means: "A later or an overlapping prediction gave other bytes than the same inputs gave first, so one prediction says nothing of the next.", Do: "See under which load, and whether predictions overlapped: the model keeps a state, or outputs share memory."},
	{Code: RepeatFailed, Class: Fail, Means: "A load or a prediction failed after others of the same model had not.", Do: "Read Core ML's error. whisper.cpp loads the encoder once for each state and predicts for each window of 30 seconds."},
	{Code: RepeatMemory, Class: Fail, Means: "Every load leaves memory behind once its model is gone, so a program that loads again and again runs out of it.", Do: "Note chip and build of macOS. Load once, and keep the model."},
	{Code: RepeatAlignment, Class: Fail, Means: "The probe's own memory for an input does not begin where it should: on a page for 16 KiB and more, on 16 bytes below.", Do: "Report it: this is a fault of coremlprobe and not of the encoder."},
	{Code: RepeatNotOverlapped, Class: Inconclusive, Means: "Overlapping predictions were asked for, and this macOS has no call for them.", Do: "Run on macOS 14 or newer, or ask for none (--overlap 0)."},
	{Code: SidesSwapped, Class: Refuse, Means: "What was given as the reference says that it is a candidate, or the other way round. The reference is the signal.", Do: "Exchange them."},
	{Code: MelDiffers, Class: Refuse, Means: "The two sides were fed different mels, so their outputs say nothing about each other.", Do: "Feed both sides the same mel; coregate mel writes it."},
	{Code: MelUnknown, Class: Refuse, Means: "A side does not say which mel it was fed.", Do: "Put the mel's digest into the sidecar (mel_sha256; coregate mel prints it)."},
	{Code: ReferenceUnfit, Class: Refuse, Means: "The reference is malformed, not numbers, constant, or of a shape that no encoder's output has.", Do: "Make the reference again."},
	{Code: ReferenceSidecar, Class: Refuse, Means: "A reference tensor came without the sidecar that says how it was made, or with one that is malformed.", Do: "Write FILE.json beside it: see docs/parity.md."},
	{Code: ReferenceTerms, Class: Refuse, Means: "The reference was not made on the terms that make it one: the source model itself, of a known revision, in float32, evaluation mode, on CPU with eager attention.", Do: "Make it again on these terms."},
	{Code: PairingByReference, Class: Note, Means: "Weights on one side cannot be decoded here, so whether encoder and model belong together is not read from them. The source model's own reference was given, which says what the encoder must compute.", Do: "See which tensor; the numbers decide."},
	{Code: PlaceByNumbers, Class: Note, Means: "The program holds an operation that cannot be evaluated here, so where it uses its weights is not read from it. The output was predicted elsewhere, and its numbers say what it computes.", Do: "Nothing; the numbers decide."},
	{Code: ReferenceCoarse, Class: Refuse, Means: "The encoder's weights are finer than the .bin's, so the .bin cannot be their reference.", Do: "Give the source model's own output with --reference."},
	{Code: PolicyKind, Class: Refuse, Means: "The policy is not one for parity, or is not frozen.", Do: "Use a frozen parity policy: fp32_v2, or the profile for the encoder's precision."},
	{Code: PolicyPrecision, Class: Refuse, Means: "The policy is for encoders of another precision than this one was found to have.", Do: "Use the profile for the precision found. Only fp32_v2 satisfies the release gate."},
	{Code: PolicyNotGate, Class: Note, Means: "The policy is a profile for a coarser precision and does not satisfy the release gate, which asks for fp32_v2.", Do: "Nothing, where a coarser encoder is meant."},
	{Code: PackageNotCompiled, Class: Note, Means: "An .mlpackage was measured. The compiled artifact that ships may differ.", Do: "Measure the .mlmodelc."},
	{Code: EmulatedUnits, Class: Note, Means: "The candidate was evaluated from the program's definition on this host, not by Core ML on any compute unit.", Do: "Run the gate on a Mac for the physical lane."},
	{Code: CandidateUnfit, Class: Refuse, Means: "The candidate's tensor file is malformed, or holds no floating-point numbers.", Do: "Predict again: coregate predict writes a candidate."},
	{Code: CandidateEncoder, Class: Refuse, Means: "The candidate was predicted from another encoder than the one given, or its sidecar does not say from which.", Do: "Predict again from the encoder that ships; its sidecar carries the digest (encoder_digest)."},
	{Code: UnitsUnobserved, Class: Note, Means: "The candidate was predicted elsewhere, and nothing tells how it was loaded: at which compute units, and after which errors.", Do: "Predict with coregate predict --probe on a Mac: its sidecar carries the report."},
	{Code: FirstDifference, Class: Note, Means: "The first point on the way through the encoder at which candidate and reference differ by more than the policy allows.", Do: "Compare that operation's weights and arguments."},
}
