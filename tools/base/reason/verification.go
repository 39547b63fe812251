package reason

// Verification: codes.
const (
	PredicateType       = "PREDICATE_TYPE"
	ReceiptMalformed    = "RECEIPT_MALFORMED"
	ReceiptNewer        = "RECEIPT_NEWER"
	VerdictNotPass      = "VERDICT_NOT_PASS"
	VerdictInconclusive = "VERDICT_INCONCLUSIVE"
	LaneDemanded        = "LANE_DEMANDED"
	PinDemanded         = "PIN_DEMANDED"
	PolicyDemanded      = "POLICY_DEMANDED"
	JudgementDemanded   = "JUDGEMENT_DEMANDED"
	FileMismatch        = "FILE_MISMATCH"
	NothingShips        = "NOTHING_SHIPS"
	FileUnlisted        = "FILE_UNLISTED"
	ArchiveDiffers      = "ARCHIVE_DIFFERS"
	EvidenceUnlisted    = "EVIDENCE_UNLISTED"
	EvidenceDiffers     = "EVIDENCE_DIFFERS"
	JudgementDiffers    = "JUDGEMENT_DIFFERS"
	OSBuildStale        = "OS_BUILD_STALE"
	AgeStale            = "AGE_STALE"
	AgeUnknown          = "AGE_UNKNOWN"
)

var verification = Table{
	{Code: PredicateType, Class: Fail, Means: "The signed statement is of another kind: its type or its predicate type is not a receipt's. A valid signature over something else proves nothing here.", Do: "Give the receipt of a gate."},
	{Code: ReceiptMalformed, Class: Fail, Means: "The statement is not in the one form that a receipt has, or contradicts itself: unknown, missing or repeated members, bytes that are not canonical, a verdict that does not follow from its judgements.", Do: "Get the receipt again; if this is what was signed, gate again."},
	{Code: ReceiptNewer, Class: Inconclusive, Means: "The receipt or release was made by a newer version of this project, in a form that this version does not know.", Do: "Verify it with the version that made it, or a newer one."},
	{Code: VerdictNotPass, Class: Fail, Means: "The receipt is genuine and says that the gate failed.", Do: "Read its judgements."},
	{Code: VerdictInconclusive, Class: Inconclusive, Means: "The receipt is genuine and says that the gate proved nothing.", Do: "Read its judgements."},
	{Code: LaneDemanded, Class: Fail, Means: "The receipt was made on another lane than the one demanded. An emulated receipt never satisfies a demand for a physical one.", Do: "Gate on the lane that is demanded."},
	{Code: PinDemanded, Class: Fail, Means: "The binary was built from a revision other than the supported pin, or a pin that calls itself supported differs from it in some member.", Do: "Build from the supported pin, or allow this one on purpose (--allow-unsupported-pin)."},
	{Code: PolicyDemanded, Class: Fail, Means: "The receipt was not judged by the policy that is demanded, byte for byte, or by one that this program does not know as frozen.", Do: "Gate under that policy."},
	{Code: JudgementDemanded, Class: Fail, Means: "The receipt does not have a judgement that is demanded, by name or by the profile: the release gate, unless another is named.", Do: "Gate with it."},
	{Code: FileMismatch, Class: Fail, Means: "A given file is not the one that the receipt binds.", Do: "Ship the bytes that were gated."},
	{Code: FileUnlisted, Class: Fail, Means: "The receipt does not list a given file, or a shipped file is not the subject that the runtime would take it for. Only listed subjects may ship.", Do: "Leave it out of the release, or gate it."},
	{Code: NothingShips, Class: Fail, Means: "The folder that is to ship holds nothing, so nothing of it was gated.", Do: "Give the folder with the program, the model and the encoder."},
	{Code: ArchiveDiffers, Class: Fail, Means: "A given file is not the module's archive that the receipt is about, or it unpacks to something else than the receipt lists: other files, links, paths that leave the module's folder, times, owners.", Do: "Get the archive from the address in the registry's entry. One that was packed again has other bytes."},
	{Code: EvidenceUnlisted, Class: Fail, Means: "A given evidence file is not one that the receipt binds.", Do: "Give the evidence of this gate."},
	{Code: EvidenceDiffers, Class: Fail, Means: "Evidence that the receipt binds names another lane, pin, program, model, encoder or audio than the receipt.", Do: "Whoever signed it bound what did not run: gate again."},
	{Code: JudgementDiffers, Class: Fail, Means: "Judging again gives another answer than the receipt: from the evidence, from the given files, or from the judgement's own facts and its policy's thresholds. Or a fact is one that its list (docs/facts.md) does not have, or of another type.", Do: "If the program that judges has changed since, gate again; otherwise the receipt was not made from this evidence."},
	{Code: OSBuildStale, Class: Inconclusive, Means: "The receipt was made on another build of the operating system. One artifact can be right on one build and wrong on another.", Do: "Gate on the build that you ship to."},
	{Code: AgeStale, Class: Inconclusive, Means: "The receipt's run is older than demanded, or in the future.", Do: "Gate again; check the clocks."},
	{Code: AgeUnknown, Class: Inconclusive, Means: "An age was demanded, and the signer did not vouch for when every run happened. The time of signing alone says nothing about the runs.", Do: "Sign with the observations of all runs."},
}
