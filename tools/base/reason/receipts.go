package reason

// Receipts: codes.
const (
	DigestMismatch      = "DIGEST_MISMATCH"
	SourcesChanged      = "SOURCES_CHANGED"
	FlavourExperimental = "FLAVOUR_EXPERIMENTAL"
	PolicyNotFrozen     = "POLICY_NOT_FROZEN"
	PolicyMissing       = "POLICY_MISSING"
	JudgementLane       = "JUDGEMENT_LANE"
	JudgementMissing    = "JUDGEMENT_MISSING"
)

var receipts = Table{
	{Code: DigestMismatch, Class: Fail, Means: "A file is not the one that ran, or that the pin or the receipt names; or two files that must differ are the same.", Do: "Give each input its own file, then build and judge again: what ships must be what was judged."},
	{Code: SourcesChanged, Class: Fail, Means: "Upstream files that the compiler read are not those of the pin: the fetched tree was edited, a file is missing, or the check was made for another pin or manifest.", Do: "Fetch again (bazel fetch --force), and check the sources for the pin that is built."},
	{Code: FlavourExperimental, Class: Fail, Means: "The binary is of a flavour that is built for experiments only: without the patch, or with fallback allowed.", Do: "Gate the coreml flavour."},
	{Code: PolicyNotFrozen, Class: Fail, Means: "The policy is none of the frozen ones, so nothing says that its thresholds were chosen before the measurement.", Do: "Freeze it in gate/policy under a new name."},
	{Code: PolicyMissing, Class: Fail, Means: "The receipt names no policy for the gate.", Do: "Give the gate's policy, gate_v2 unless told otherwise."},
	{Code: JudgementLane, Class: Fail, Means: "A judgement says that its numbers were computed by something that the receipt's lane does not have: Core ML on the emulated one, our evaluator or another system on the physical one; or it does not say what computed them.", Do: "Judge the numbers on the lane that is gated (coreml_encoder_gate does)."},
	{Code: JudgementMissing, Class: Fail, Means: "A judgement that the receipt must have is not there.", Do: "Run the gate that makes it."},
}
