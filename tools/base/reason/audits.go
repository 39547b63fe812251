package reason

// Audits: codes.
const (
	RebuiltDiffers        = "REBUILT_DIFFERS"
	EncoderRebuiltDiffers = "ENCODER_REBUILT_DIFFERS"
	AuditInputDiffers     = "AUDIT_INPUT_DIFFERS"
	AuditToolchainDiffers = "AUDIT_TOOLCHAIN_DIFFERS"
	AuditLaneDiffers      = "AUDIT_LANE_DIFFERS"
	AuditEvidenceDiffers  = "AUDIT_EVIDENCE_DIFFERS"
	AuditVerdictDiffers   = "AUDIT_VERDICT_DIFFERS"
	AuditDiffers          = "AUDIT_DIFFERS"
	OriginalMismatch      = "ORIGINAL_MISMATCH"
)

var audits = Table{
	{Code: RebuiltDiffers, Class: Fail, Means: "Building the same sources again gave another whisper-cli or another model than the receipt binds.", Do: "See which section differs: a path, a date or a build id says what is not reproducible; code says that something else was compiled."},
	{Code: EncoderRebuiltDiffers, Class: Inconclusive, Means: "The encoder, compiled again, is another artifact than the one that the receipt binds. Apple's compiler may not be deterministic.", Do: "Ship the encoder that was gated, or gate the new one: the old receipt never covers it."},
	{Code: AuditInputDiffers, Class: Fail, Means: "The checkout that was built is not what the receipt was made from: another pin, patch, manifest, policy or fixture.", Do: "Check out the revision that the receipt was made from, and choose its pin."},
	{Code: AuditToolchainDiffers, Class: Inconclusive, Means: "The toolchain of this machine is not the one that the receipt names, so a difference proves nothing.", Do: "Audit with the compiler that the receipt names (--config=hermetic pins one)."},
	{Code: AuditLaneDiffers, Class: Inconclusive, Means: "This machine builds another lane, or another identity of it, than the receipt's.", Do: "Audit on a machine of the receipt's lane."},
	{Code: AuditEvidenceDiffers, Class: Fail, Means: "The same program with the same inputs left other evidence.", Do: "coregate diff shows what; on the emulated lane evidence repeats byte for byte."},
	{Code: AuditVerdictDiffers, Class: Fail, Means: "Judged again, the gate has another verdict or other grounds.", Do: "coregate diff shows what changed."},
	{Code: AuditDiffers, Class: Fail, Means: "On the emulated lane the same inputs give the same bytes, and the rebuilt receipt has others: a size, a fact, a note, a name.", Do: "See what changed; whoever wrote the audited receipt, or this checkout, differs in it."},
	{Code: OriginalMismatch, Class: Refuse, Means: "A file that was given as the original is not the one that the receipt binds, so comparing with it would explain nothing.", Do: "Give the file that was gated."},
}
