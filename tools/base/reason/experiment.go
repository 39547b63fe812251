package reason

// Patch experiment: codes.
const (
	ABPatchedFault  = "AB_PATCHED_FAULT"
	ABFaultNotShown = "AB_FAULT_NOT_SHOWN"
)

var experiment = Table{
	{Code: ABPatchedFault, Class: Fail, Means: "A patched whisper-cli did not refuse cleanly at least once.",
		Do: "Look at the outcomes that the table counts. Without the load failure line the program did not get that far: start it by hand. With it, the patch does not cover this source."},
	{Code: ABFaultNotShown, Class: Note, Means: "No unpatched run showed the fault, so this experiment says nothing about what the patch does.",
		Do: "Raise n, look at the heap settings, or read the source: `coregate pin candidate`."},
}
