package judgements

import (
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// many bounds counts of lines, words and tensors.
const many = 1 << 24

// largest bounds a number without a bound of its own: what every reader of JSON keeps exactly.
const largest = 1 << 52

func text(key string, in Presence, form *Form, says, also string) Fact {
	return Fact{Key: key, Type: Text, In: in, Form: form, Says: says, Also: also}
}

func oneOf(key string, in Presence, says, also string, values ...string) Fact {
	return Fact{Key: key, Type: Text, In: in, Values: values, Says: says, Also: also}
}

func truth(key string, says, also string, values ...string) Fact {
	return Fact{Key: key, Type: Truth, In: Must, Values: values, Says: says, Also: also}
}

func count(key string, in Presence, least, most float64, says, also string) Fact {
	return Fact{Key: key, Type: Count, In: in, Least: least, Most: most, Says: says, Also: also}
}

func number(key string, in Presence, least, most float64, says, also string) Fact {
	return Fact{Key: key, Type: Number, In: in, Least: least, Most: most, Says: says, Also: also}
}

// bound names a thing that the receipt binds; a receipt compares it with its own.
func boundAs(key, what string) Fact {
	return text(key, Must, digest, "SHA-256 of "+what, "the receipt's own")
}

var (
	aboutCLI      = boundAs(verdict.FactCLI, "whisper-cli")
	aboutContrast = boundAs(verdict.FactContrastCLI, "the contrast run's whisper-cli")
	aboutModel    = boundAs(verdict.FactModel, "the model")
	aboutEncoder  = boundAs(verdict.FactEncoder, "the encoder's tree")
	aboutLane     = oneOf(verdict.FactLane, Must, "the lane", "the receipt's own", "physical", "emulated")
	ofEvidence    = []Fact{
		boundAs(verdict.FactCoreMLEvidence, "the evidence of the Core ML run"), boundAs(verdict.FactCanaryEvidence, "the evidence of the canary"),
		boundAs(verdict.FactContrastEvidence, "the evidence of the contrast run"), boundAs(verdict.FactReference, "the reference words"),
	}
)

// shownBy are the facts of one run: what its log showed. Each run of a pass showed exactly this.
func shownBy(exit, coreml string, info, loads, failures, buffers, errors float64) []Fact {
	exactly := func(key string, n float64, says string) Fact { return count(key, Must, n, n, says, "") }
	return []Fact{
		oneOf("exit", Must, "how the program ended", "the policy's code, of a canary", exit),
		oneOf("coreml_value", Must, "COREML in the line system_info", "", coreml),
		exactly("system_info_lines", info, "lines system_info"),
		exactly("load_markers", loads, "lines that say that the encoder was loaded"),
		exactly("load_failures", failures, "lines that say that it was not"),
		exactly("ggml_encode_buffers", buffers, "lines about ggml's own encoder"),
		exactly("context_errors", errors, "lines that say that there is no context"),
	}
}

// encoderRuns is the program's count, and doublePredictions the one of what stands for Core ML on the emulated lane.
func encoderRuns(in Presence) Fact {
	return count("encoder_runs", in, 1, many, "runs of the encoder, as whisper_print_timings counts", "")
}

func doublePredictions(in Presence) Fact {
	return count("double_predictions", in, 1, many, "predictions, as what stands for Core ML counts", "`encoder_runs`")
}

func edits(key, says, also string) Fact { return count(key, Must, 0, many, says, also) }

func rate(key string, in Presence, says, also string) Fact {
	return number(key, in, 0, many, says, also)
}

// lists are the facts of each judgement: those that its writer can say, and what a pass says. A receipt with any other, or
// with one of another type, passes nothing.
var lists = map[string][]Fact{
	Binding:  {},
	Sources:  {count(verdict.FactSourceFiles, Must, 1, 1<<20, "files that were hashed", "the pin's manifest, which verify knows of every pin of this program")},
	Markers:  slices.Concat(shownBy("exit 0", "1", 1, 1, 0, 0, 0), []Fact{encoderRuns(Must), doublePredictions(Emulated), aboutCLI, aboutModel, aboutEncoder}, ofEvidence),
	Canary:   slices.Concat(shownBy("exit 3", "absent", 0, 0, 1, 0, 1), []Fact{encoderRuns(Never), doublePredictions(Never), aboutCLI, aboutModel}, ofEvidence),
	Contrast: slices.Concat(shownBy("exit 0", "0", 1, 0, 0, 1, 0), []Fact{encoderRuns(Must), doublePredictions(Never), aboutContrast, aboutModel}, ofEvidence),
	Transcript: slices.Concat([]Fact{
		count("reference_words", Must, 1, many, "words of the reference", ""),
		count("coreml_words", Must, 1, many, "words of the Core ML run", ""),
		count("contrast_words", Must, 1, many, "words of the contrast run", ""),
		edits("coreml_edits", "edits from the reference to the Core ML run", "at least the difference in words"),
		edits("contrast_edits", "edits from the reference to the contrast run", "at least the difference in words"),
		edits("encoders_edits", "edits between the two runs", "the policy's limits; at least the difference in words"),
		number("reference_rate", Must, 0, 1, "error rate of the Core ML run", "`coreml_edits` over `reference_words`; the policy's limit"),
		aboutCLI, aboutContrast, aboutModel, aboutEncoder,
	}, ofEvidence),
	Contract: {
		truth("shippable", "whether the pair may ship", "", "true"),
		text("derived", Must, fileName, "the folder that the runtime looks for", ""),
		oneOf("model_type", Must, "type of the model's matrices", "", modelTypes...),
		oneOf(verdict.FactEncoderForm, Must, "form of the encoder", "parity's", "mlmodelc"),
		oneOf("encoder_kind", Must, "kind of model", "", "mlProgram"),
		count("specification_version", Must, 6, 10, "version of Core ML's specification", ""),
		text("minimum_macos", Must, version, "the first macOS that reads it", "that of `specification_version`"),
		text("held_to_macos", May, version, "the oldest macOS that must read it, where the gate names one", "not older than `minimum_macos`"),
		text("producer", Must, free, "who made the encoder, in its own words", ""),
		oneOf(verdict.FactPrecision, Must, "class of the encoder", "of `weights` and `compute`; parity's", "float32", "float16", "compressed"),
		oneOf("weights", Must, "how weights are stored", "", "float32", "float16", "mixed", "compressed"),
		oneOf("compute", Must, "what operations put out", "", "float32", "float16", "mixed"),
		text("compression", Must, compression, "schemes of compressed weights", "nothing for `weights` of float32, something for compressed ones"),
		count("tensors", Must, 22, many, "encoder tensors of the model", "7, and 15 for each layer"),
		count("tensors_matched", Must, 22, many, "tensors that the encoder has", "`tensors`"),
		oneOf("pairing_rule", Must, "how equality was judged", "`bounded` only where weights of either side are compressed", "exact", "bounded"),
		truth("weights_finer", "whether the encoder's weights have bits that the model's lost", "then parity goes by a reference that was given, or by a coarser policy"),
		aboutModel, aboutEncoder,
	},
	Parity: {
		oneOf(verdict.FactPrecision, Must, "class of the encoder", "the policy's; contract's", "float32", "float16", "compressed8", "compressed4"),
		oneOf(verdict.FactEncoderForm, Must, "form of the encoder", "contract's", "mlmodelc"),
		number("snr_db", Must, -400, 400, "signal to noise, in dB", "the policy's limit; 400 only for equal tensors"),
		number("cosine", Must, -1, 1, "cosine", "the policy's limit; at least what the SNR allows"),
		number("max_error", Must, 0, largest, "largest difference", "0 only for equal tensors"),
		number("mean_error", Must, 0, largest, "mean difference", "at most `max_error`; 0 only with it"),
		text("mel", Must, melSource, "what both sides were fed", ""),
		text("mel_sha256", Must, digest, "digest of the mel", ""),
		text("reference", Must, computed, "what the output was compared with", ""),
		text(FactSourceTensor, May, digest, "digest of the reference that was given", "with `reference` tensor FILE, and only with it"),
		text(FactSourceSidecar, May, digest, "digest of what says how it was made", "with `reference` tensor FILE, and only with it"),
		truth(verdict.FactSatisfiesGate, "whether the policy is that of the release gate", "the policy; the note `POLICY_NOT_GATE` where it is not"),
		oneOf(verdict.FactEvaluator, Emulated, "code path of the evaluator", "the note `EMULATED_UNITS`, which names it", kernelPaths...),
		text(verdict.FactCoreMLHost, Physical, mac, "the Mac whose Core ML predicted", "the lane identity's build"),
		oneOf(verdict.FactUnitsAsked, Physical, "compute units that were asked for", "", "all"),
		oneOf(verdict.FactUnitsLoaded, Physical, "compute units at which it loaded", "", "all"),
		text(verdict.FactLoadAttempts, Physical, attempts, "what Core ML answered", ""),
		aboutModel, aboutEncoder,
	},
	Words: {
		count("recordings", Must, 1, 1<<20, "recordings", ""),
		count("units", Must, 1, many, "words of ggml's run over all recordings", ""),
		edits("coreml_source_edits", "edits from the source model's words to the Core ML run's", ""),
		edits("ggml_source_edits", "the same of ggml's run", ""),
		edits("coreml_ggml_edits", "edits from ggml's words to the Core ML run's", ""),
		rate("coreml_source_rate", Must, "error rate", "its edits over the source model's words; the policy's limits"),
		rate("ggml_source_rate", Must, "error rate", "its edits over the source model's words"),
		rate("coreml_ggml_rate", Must, "error rate", "its edits over `units`; the policy's limits"),
		rate("coreml_source_strict_rate", May, "error rate of the strict form", "where the policy has limits on it, and only there"),
		rate("coreml_ggml_strict_rate", May, "error rate of the strict form", "where the policy has limits on it, and only there"),
		truth(verdict.FactProvisional, "whether the recordings are too few", "the policy's least numbers"),
		text("nondeterminism", Must, decoding, "where upstream itself may answer otherwise", ""),
		text("evidence_digest", Must, digest, "digest of the folder of runs", ""),
		aboutCLI, aboutContrast, aboutModel, aboutEncoder, aboutLane,
	},
	Placement: placementFacts(),
}

// ofPair are notes about a model and its encoder, which contract and parity both have.
var ofPair = []string{reason.FinderFile, reason.WeightsUnread, reason.PairingRewritten, reason.PairingFiner, reason.PairingUnmatched, reason.GeluApproximate, reason.PaletteScaled, reason.TorchUntested, reason.ProducerUnknown}

// noted are the codes of notes that each judgement can have.
var noted = map[string][]string{
	Markers:  {reason.AneFallback},
	Canary:   {reason.AneFallback},
	Contrast: {reason.AneFallback},
	Contract: ofPair,
	Parity: slices.Concat(ofPair, []string{
		reason.PolicyNotGate, reason.EmulatedUnits, reason.PackageNotCompiled, reason.PairingByReference, reason.PlaceByNumbers, reason.IntegersInexact, reason.UnitsUnobserved, reason.FirstDifference, reason.ParityOverflow,
	}),
	Words:     {reason.WordsProvisionalFew, reason.WordsProvisionalSource, reason.WordsProvisionalProbe, reason.WordsBudgetNarrow, reason.WordsConversionChanged, reason.WordsMerged, reason.WordsLoop, reason.WordsSilenceUpstream},
	Placement: {reason.PlacementChainBroken, reason.PlacementDisagrees, reason.PlacementBeside, reason.PowerCorroborates, reason.PowerSilent},
}

// Facts of parity under a reference that was given.
const (
	FactSourceTensor  = "source_tensor_sha256"
	FactSourceSidecar = "source_sidecar_sha256"
)

// modelTypes are the types of models that the runtime runs beside a Core ML encoder: those of package ggml but float32.
var modelTypes = []string{"f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K",
	"iq2_xxs", "iq2_xs", "iq3_xxs", "iq1_s", "iq4_nl", "iq3_s", "iq2_s", "iq4_xs", "iq1_m", "mxfp4", "nvfp4", "q1_0", "q2_0"}

// kernelPaths are the code paths of the evaluator, as package kernel names them.
var kernelPaths = []string{"portable", "amd64-avx2-fma-f16c", "arm64-neon"}

func placementFacts() []Fact {
	const plan, trace = "with a plan", "with a recording"
	list := []Fact{
		oneOf(verdict.FactInstrument, Must, "what saw it", "the policy's", "MLComputePlan", "Instruments trace"),
		oneOf("device", Must, "the device that is demanded", "the policy's", "neural_engine", "gpu", "cpu"),
		text(verdict.FactPlacement, Must, placed, "the placement in words", "from the other facts; the receipt's `placement`"),
		text("encoder_name", Must, folder, "the encoder's folder", ""),
		text(verdict.FactOSBuild, Must, osBuild, "build of macOS", ""),
		text(verdict.FactCoreMLHost, Must, mac, "the Mac that was asked", "`os_build`; the lane identity's build"),
		text(verdict.FactUnitsAsked, May, units, "compute units that were asked for", "all, where the plan decides"),
		oneOf("framework", May, "what answered", "Apple's, where the plan decides", "com.apple.CoreML", "stand-in"),
		text("plan_sha256", May, digest, "digest of the plan's record", plan),
		count("operations", May, 0, 1<<30, "operations that have a device", plan+"; the sum over the devices"),
		count("chain_breaks", May, 0, 1<<30, "breaks of the chain on the device", plan+"; the note `PLACEMENT_CHAIN_BROKEN` where there are any"),
		text("trace_sha256", May, digest, "digest of the recording", trace),
		count("trace_intervals", May, 0, 1<<30, "intervals of the Neural Engine", trace),
		count("trace_predictions", May, 0, 1<<30, "those of the encoder", trace+"; at most `trace_intervals`; the policy's least"),
		number("trace_busy_ms", May, 0, largest, "their time in milliseconds", trace),
		text("power", May, powerForm, "what powermetrics shows beside the run", ""),
		text("power_control", May, powerForm, "what it shows beside a model that uses the Neural Engine", ""),
		aboutModel, aboutEncoder, oneOf(verdict.FactLane, Must, "the lane", "the receipt's own", "physical"),
	}
	for _, device := range []string{"neural_engine", "gpu", "cpu", "unknown"} {
		list = append(list, number("share_"+device, May, 0, 1, "share of the estimated cost", plan+"; the shares add up to 1"), count("operations_"+device, May, 0, 1<<30, "operations on it", plan))
	}
	return list
}
