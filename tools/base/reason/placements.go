package reason

// Placement: codes.
const (
	PlacementNoNeuralEngine    = "PLACEMENT_NO_NEURAL_ENGINE"
	PlacementNoInstrument      = "PLACEMENT_NO_INSTRUMENT"
	PlacementNotObserved       = "PLACEMENT_NOT_OBSERVED"
	PlacementEmulated          = "PLACEMENT_EMULATED"
	PlacementStandIn           = "PLACEMENT_STAND_IN"
	PlacementOtherEncoder      = "PLACEMENT_OTHER_ENCODER"
	PlacementOtherHost         = "PLACEMENT_OTHER_HOST"
	PlacementUnits             = "PLACEMENT_UNITS"
	PlacementUnweighed         = "PLACEMENT_UNWEIGHED"
	PlacementShare             = "PLACEMENT_SHARE"
	PlacementContradicted      = "PLACEMENT_CONTRADICTED"
	PlacementTraceTarget       = "PLACEMENT_TRACE_TARGET"
	PlacementTraceSilent       = "PLACEMENT_TRACE_SILENT"
	PlacementTraceUnattributed = "PLACEMENT_TRACE_UNATTRIBUTED"
	PlacementPolicy            = "PLACEMENT_POLICY"
	PlacementChainBroken       = "PLACEMENT_CHAIN_BROKEN"
	PlacementDisagrees         = "PLACEMENT_DISAGREES"
	PlacementBeside            = "PLACEMENT_BESIDE"
	PowerCorroborates          = "POWER_CORROBORATES"
	PowerSilent                = "POWER_SILENT"
)

var placements = Table{
	{Code: PlacementNoNeuralEngine, Class: Refuse, Means: "The policy demands the Neural Engine, and Core ML reports no such device on this machine. Nothing was run.", Do: "Run on a Mac whose device list has one: coremlprobe devices shows it. Virtual machines have none."},
	{Code: PlacementNoInstrument, Class: Inconclusive, Means: "The policy names an instrument, and nothing of that instrument was given. A load marker, requested compute units, a speedup or a transcript support no placement.", Do: "Read a compute plan (coregate placement --probe), or record a trace (coregate placement record), whichever the policy names."},
	{Code: PlacementNotObserved, Class: Inconclusive, Means: "The system is too old for the instrument: MLComputePlan needs macOS 14.4.", Do: "Read the plan on macOS 14.4 or later, or record a trace."},
	{Code: PlacementEmulated, Class: Inconclusive, Means: "The emulated lane has no Core ML and places nothing, so it has no placement to judge.", Do: "Judge placement on the physical lane."},
	{Code: PlacementStandIn, Class: Inconclusive, Means: "The plan is the one that this project's stand-in for Core ML makes up for tests. It says nothing about any machine.", Do: "Read the plan with coremlprobe on a Mac."},
	{Code: PlacementOtherEncoder, Class: Fail, Means: "The plan or trace is of another encoder than the one that is judged.", Do: "Read the plan of the very files that ship; the record names them by digest."},
	{Code: PlacementOtherHost, Class: Fail, Means: "The plan or trace comes from another build of macOS than the gate's machine. Core ML places anew on every build.", Do: "Read it again on the machine that the gate names."},
	{Code: PlacementUnits, Class: Fail, Means: "The plan was asked for with other compute units than the runtime's bridge asks for, which are all.", Do: "Read the plan with coremlprobe, which asks as the bridge does."},
	{Code: PlacementUnweighed, Class: Inconclusive, Means: "Operations on other devices have no estimated cost, or the whole plan has none, so no share can be computed.", Do: "Record a trace: a plan without costs says where operations go, and not how much of the work that is."},
	{Code: PlacementShare, Class: Fail, Means: "The plan gives the demanded device a smaller share of the estimated cost than the policy demands. That a device supports an operation does not mean that Core ML prefers it.", Do: "See which operations run elsewhere (coregate placement lists them by layer) and convert them in a form that the device takes."},
	{Code: PlacementContradicted, Class: Fail, Means: "The run's own log says that the Neural Engine failed to compile or evaluate the encoder, so a plan or trace that names it does not describe this run.", Do: "Claim no Neural Engine placement; see the quoted line."},
	{Code: PlacementTraceTarget, Class: Fail, Means: "The recording is not one of a complete run of whisper-cli that Instruments launched with its Core ML template.", Do: "Record again: coregate placement record."},
	{Code: PlacementTraceSilent, Class: Inconclusive, Means: "The recording has no interval of the Neural Engine. An empty table refutes nothing: the table was seen empty while the Neural Engine was busy.", Do: "Record a model that is known to use the Neural Engine with the same set-up first."},
	{Code: PlacementTraceUnattributed, Class: Inconclusive, Means: "The recording has fewer predictions whose label names the encoder than the policy demands. The table covers the whole system and names no process, so other intervals may be anyone's.", Do: "Record again with nothing else running; compare the labels with the encoder's name."},
	{Code: PlacementPolicy, Class: Refuse, Means: "The policy is not one for placement, or names no instrument.", Do: "Use a frozen policy of kind placement: placement_plan_v1 or placement_trace_v1."},
	{Code: PlacementChainBroken, Class: Note, Means: "Operations on other devices lie between operations on the demanded device, so data leaves the device and comes back.", Do: "See the layers; each break costs two transfers."},
	{Code: PlacementDisagrees, Class: Note, Means: "Two instruments do not say the same. Both are kept; the policy says which one decides.", Do: "Trust the recording over the plan for this run, and look for what kept the plan from being followed."},
	{Code: PlacementBeside, Class: Note, Means: "Another instrument was given beside the one that decides, and it shows nothing that can be compared. What it lacks is named in brackets.", Do: "Nothing, unless that instrument should decide: then judge under a policy that names it."},
	{Code: PowerCorroborates, Class: Note, Means: "powermetrics shows power of the Neural Engine. Its figures are estimates for the whole system: they corroborate and decide nothing.", Do: "Nothing."},
	{Code: PowerSilent, Class: Note, Means: "powermetrics shows no power of the Neural Engine. Zero refutes nothing without a positive control on the same machine.", Do: "Give the output of powermetrics beside a model that is known to use the Neural Engine (--power-control)."},
}
