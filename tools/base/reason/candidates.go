package reason

// Candidate pins: codes.
const (
	CandidateFiles    = "CANDIDATE_FILES"
	CandidateNoSource = "CANDIDATE_NO_SOURCE"
	CandidateLayout   = "CANDIDATE_LAYOUT"
	CandidateContract = "CANDIDATE_CONTRACT"
	CandidatePatch    = "CANDIDATE_PATCH"
	CandidateUnread   = "CANDIDATE_UNREAD"
)

var candidates = Table{
	{Code: CandidateFiles, Class: Inconclusive, Means: "The candidate lacks files that the build reads, so it builds from another list of files.",
		Do: "Derive the list from its CMake files, change the overlay, and make a manifest."},
	{Code: CandidateNoSource, Class: Refuse, Means: "The source is not a whisper.cpp tree: no file in it declares whisper_state.",
		Do: "Name the top of a clone or of an unpacked archive of whisper.cpp."},
	{Code: CandidateLayout, Class: Inconclusive, Means: "The candidate has the layout of an older upstream. Its files were read where they are; the build and the patch know only the newer places.",
		Do: "Choose a revision from v1.7.4 on, or write an overlay for this one."},
	{Code: CandidateContract, Class: Fail, Means: "Something in upstream's source on which the gates rely has changed: a marker, an exit code, the encoder's name, a tensor or a flag.",
		Do: "Read the change, then change the gates and their tests with it, or stay at the pin."},
	{Code: CandidatePatch, Class: Fail, Means: "The candidate needs the patch and does not take it exactly, so its refusal may crash.",
		Do: "Make the patch for this revision, with its own digest, as patches/README.md says."},
	{Code: CandidateUnread, Class: Inconclusive, Means: "The source has a form that the reader does not know, so nothing about its early returns is taken for safe.",
		Do: "Read whisper_init_state by hand, then teach the reader."},
}
