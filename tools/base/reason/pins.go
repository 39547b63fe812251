package reason

// Pins and patches: codes.
const (
	PinManifest      = "PIN_MANIFEST"
	PinCommit        = "PIN_COMMIT"
	PinTree          = "PIN_TREE"
	PinFile          = "PIN_FILE"
	PatchBytes       = "PATCH_BYTES"
	PatchForm        = "PATCH_FORM"
	PatchApply       = "PATCH_APPLY"
	PatchedFile      = "PATCHED_FILE"
	PinVersions      = "PIN_VERSIONS"
	SourceLineEnds   = "SOURCE_LINE_ENDS"
	TreeUnpatched    = "TREE_UNPATCHED"
	TreeUnverifiable = "TREE_UNVERIFIABLE"
)

var pins = Table{
	{Code: PinManifest, Class: Fail, Means: "The content manifest is not the one that the pin names by its SHA-256.",
		Do: "Restore it from version control; or make a new one with `coregate pin manifest` and pin that."},
	{Code: PinCommit, Class: Fail, Means: "The commit that was given is not the pin's, or does not hold the pin's tree.",
		Do: "Name the pin's commit; if its tree is another, the pin is wrong."},
	{Code: PinTree, Class: Fail, Means: "The source's files, hashed as git hashes them, do not make up the pin's tree.",
		Do: "Give a clone that holds the pin's commit, or the unpacked archive of it with nothing added, removed or converted (line endings, modes)."},
	{Code: PinFile, Class: Fail, Means: "A file of the content manifest is not upstream's file of that commit.",
		Do: "Make the manifest again with `coregate pin manifest` and look at the difference before you believe it."},
	{Code: PatchBytes, Class: Fail, Means: "The patch is not the pinned one, byte for byte. The same change with other blob names or line endings is another patch.",
		Do: "Restore the file from version control; patches/README.md says how its bytes are made."},
	{Code: PatchForm, Class: Fail, Means: "The patch is not a plain edit of the one file that the pin names.",
		Do: "Split it, or correct the pin's patched_file."},
	{Code: PatchApply, Class: Fail, Means: "A hunk of the patch does not fit at the line that it names.",
		Do: "Take the patch that was made for this revision of the source. A hunk that fits at another line is not taken."},
	{Code: PatchedFile, Class: Fail, Means: "The patched file is not what the pin says comes of the patch.",
		Do: "Source, patch and pin do not belong together: check each with `coregate pin verify`."},
	{Code: PinVersions, Class: Fail, Means: "The versions that the pin states, and the build compiles in, are not those of the source's CMake files.",
		Do: "Correct the pin's versions; `coregate pin make` reads them from the source."},
	{Code: SourceLineEnds, Class: Fail, Means: "The source's lines end with CRLF where upstream's end with LF: a clone or an unpacking tool converted them. Nothing else in the named file differs.",
		Do: "Check it out again with core.autocrlf=false, or unpack the archive without conversion."},
	{Code: TreeUnpatched, Class: Fail, Means: "The tree is upstream's as it is. Without the patch a refusal may crash, so a build of it is unsupported.",
		Do: "Apply the pinned patch, and nothing else."},
	{Code: TreeUnverifiable, Class: Fail, Means: "The tree differs from upstream by more than the pinned patch: tracked, untracked and ignored files, modes and links all count.",
		Do: "Start from a fresh checkout, apply the patch, and build in a folder outside of it."},
}
