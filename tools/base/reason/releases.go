package reason

// Releases: codes.
const (
	ReceiptNeeded     = "RECEIPT_NEEDED"
	ReceiptUnlisted   = "RECEIPT_UNLISTED"
	ReleaseDiffers    = "RELEASE_DIFFERS"
	ReleaseIncomplete = "RELEASE_INCOMPLETE"
)

var releases = Table{
	{Code: ReceiptNeeded, Class: Inconclusive, Means: "Something was demanded of a release that only its receipts can answer: a policy, a judgement, an age, an OS build.", Do: "Give every receipt of the release with --file."},
	{Code: ReceiptUnlisted, Class: Fail, Means: "A given receipt is not one of this release.", Do: "Give the receipts of this release."},
	{Code: ReleaseDiffers, Class: Fail, Means: "The release and one of its given receipts contradict each other.", Do: "Make the release again from its receipts."},
	{Code: ReleaseIncomplete, Class: Fail, Means: "The release has no receipt on the lane that is demanded for one of its gates.", Do: "Gate on that lane and release again."},
}
