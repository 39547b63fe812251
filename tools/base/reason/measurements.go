package reason

// Measurements: codes.
const (
	ThermalNotNominal      = "THERMAL_NOT_NOMINAL"
	LowPowerMode           = "LOW_POWER_MODE"
	BuildNotRelease        = "BUILD_NOT_RELEASE"
	VirtualMachine         = "VIRTUAL_MACHINE"
	OtherAction            = "OTHER_ACTION"
	MachineBusy            = "MACHINE_BUSY"
	MeasuredRunFailed      = "MEASURED_RUN_FAILED"
	MemoryUnread           = "MEMORY_UNREAD"
	WorkVaries             = "WORK_VARIES"
	MeasurementRefused     = "MEASUREMENT_REFUSED"
	MeasurementInterrupted = "MEASUREMENT_INTERRUPTED"
	NothingAccepted        = "NOTHING_ACCEPTED"
	MeasurementProvisional = "MEASUREMENT_PROVISIONAL"
	ImplausibleRate        = "IMPLAUSIBLE_RATE"
	RateUnchecked          = "RATE_UNCHECKED"
	ComparisonPairs        = "COMPARISON_PAIRS"
	ComparisonSessions     = "COMPARISON_SESSIONS"
	DifferenceNone         = "DIFFERENCE_NONE"
	ClaimContradicted      = "CLAIM_CONTRADICTED"
	SustainedShort         = "SUSTAINED_SHORT"
	EnergyUnmeasured       = "ENERGY_UNMEASURED"
	EnergyPublished        = "ENERGY_PUBLISHED"
	PowerZero              = "POWER_ZERO"
	NotMergeable           = "NOT_MERGEABLE"
	ControlDrift           = "CONTROL_DRIFT"
	ColdUnsure             = "COLD_UNSURE"
	MemoryElsewhere        = "MEMORY_ELSEWHERE"
	MemoryNotRecovered     = "MEMORY_NOT_RECOVERED"
	FitExceeded            = "FIT_EXCEEDED"
	FitUnknown             = "FIT_UNKNOWN"
	FitGuessed             = "FIT_GUESSED"
	MemoryEmergency        = "MEMORY_EMERGENCY"
)

var measurements = Table{
	{Code: ThermalNotNominal, Class: Inconclusive, Means: "The machine was warm before the run, or does not say how warm it is. The run is kept and counted, and makes no figure.", Do: "Let the machine cool, or measure where the thermal state can be read."},
	{Code: LowPowerMode, Class: Inconclusive, Means: "The machine saves power, or does not say whether it does. The run is kept and counted, and makes no figure.", Do: "Switch low-power mode off."},
	{Code: BuildNotRelease, Class: Inconclusive, Means: "The program is not a release build, or its build mode is unknown: a debug build takes several times as long.", Do: "Build whisper-cli by its rule, which optimises, and give the definitions of its compile actions (--defines)."},
	{Code: VirtualMachine, Class: Inconclusive, Means: "The run was in a virtual machine, whose neighbours and clock are unknown. The run is stored and counted, and enters no figure.", Do: "Measure on a physical machine."},
	{Code: OtherAction, Class: Inconclusive, Means: "Another run of this project was on the machine at the same time.", Do: "Wait for it, and stop other builds: ggml's threads spin while they wait."},
	{Code: MachineBusy, Class: Inconclusive, Means: "Something else used the processors before or during the run, or nothing tells whether it did.", Do: "Close what is running and measure again."},
	{Code: MeasuredRunFailed, Class: Inconclusive, Means: "A run of the session failed, was killed, ran out of time, or ended with 0 and did no work: no encode, no load marker of its encoder, or no word. It stays in the table and makes no figure.", Do: "See its exit; if memory ran out, coregate fit says by how much."},
	{Code: MemoryUnread, Class: Inconclusive, Means: "No reading of the program's memory fell into the run, or the system gives none. A time without its memory is half of a trade-off, and makes no figure.", Do: "Measure where the memory of a process can be read; a run of less than a tenth of a second cannot be followed."},
	{Code: WorkVaries, Class: Inconclusive, Means: "Runs of one arm did different work: they wrote other words, or encoded or decoded another number of times. Their times are not of one thing.", Do: "Use decoding that does not vary: one temperature, no fallback, one thread count."},
	{Code: MeasurementRefused, Class: Refuse, Means: "A submission is malformed, was edited by hand, or lacks a figure that the protocol demands: a time without its memory, a run without its environment.", Do: "Measure again: a submission is written by coregate bench and by nothing else."},
	{Code: MeasurementInterrupted, Class: Inconclusive, Means: "The session was stopped before its end. What was measured is kept, and makes no figure.", Do: "Run the session to its end."},
	{Code: NothingAccepted, Class: Inconclusive, Means: "No submission passed the filter, so there is no figure. The table lists the runs and why each was excluded.", Do: "Remove the reasons and measure again."},
	{Code: MeasurementProvisional, Class: Note, Means: "The figure rests on fewer accepted submissions than the protocol requires.", Do: "Add sessions, of other machines of the kind or on other days."},
	{Code: ImplausibleRate, Class: Fail, Means: "The time implies more operations or bytes a second than the machine was measured to do. The time is wrong, or less was computed than is claimed.", Do: "Look for a run that did no work (a failed prediction, an encoder that was not called), or a clock that is off."},
	{Code: RateUnchecked, Class: Note, Means: "The machine's peak was measured on its processors, and the work ran elsewhere or its amount is not known: nothing bounds the rate.", Do: "Do not take the rate for plausible because of this check."},
	{Code: ComparisonPairs, Class: Refuse, Means: "Two arms are compared in at least eight interleaved pairs that pass the filter, or not at all.", Do: "Measure with coregate bench, both arms in one session, and --pairs 8 or more."},
	{Code: ComparisonSessions, Class: Refuse, Means: "The two sides were measured in different sessions. Machines differ by more from day to day than encoders do.", Do: "Measure both in one session: coregate bench with two arms."},
	{Code: DifferenceNone, Class: Fail, Means: "The claimed difference is below the protocol's floor, or the pairs disagree about its sign: there is no difference.", Do: "Say that there is no difference."},
	{Code: ClaimContradicted, Class: Fail, Means: "The measurement shows the opposite of what is claimed.", Do: "Take the claim back."},
	{Code: SustainedShort, Class: Refuse, Means: "A sustained figure needs the protocol's whole time; a shorter one is a burst.", Do: "Run coregate bench --mode sustained to its end."},
	{Code: EnergyUnmeasured, Class: Refuse, Means: "A claim about energy has no measured power and idle baseline behind it. Low power is not low energy: energy is mean power times time.", Do: "Measure with coregate bench --mode energy where the system gives power (powermetrics as root, RAPL)."},
	{Code: EnergyPublished, Class: Refuse, Means: "The power is a published or typed figure, not one that was measured beside these runs.", Do: "Measure it here, or claim nothing."},
	{Code: PowerZero, Class: Inconclusive, Means: "The instrument reads no more power with the load than without. That proves neither that nothing ran there nor that it is free.", Do: "Show first that the instrument sees a load that is known to run there."},
	{Code: NotMergeable, Class: Refuse, Means: "The submissions differ in something that makes their figures incomparable.", Do: "Merge what is of one protocol, mode, lane, audio, thread count and environment; keep one artifact, whisper-cli, evaluator, unit set and build of the system to a row, and give arms that differ in one of them different names."},
	{Code: ControlDrift, Class: Note, Means: "The control arm of this session against the same arm of the last session on this machine. Smaller differences between the two sessions are noise.", Do: "Compare within a session."},
	{Code: ColdUnsure, Class: Note, Means: "macOS kept compiled models of whisper-cli from before, or nothing tells: the cold run may have loaded one of them in place of compiling the encoder. What the Neural Engine's own service keeps is never looked at.", Do: "Measure with --specialisation clear, and quote cold and warm apart."},
	{Code: MemoryElsewhere, Class: Note, Means: "Core ML works in processes of the system as well: what they hold for the model is in neither peak. The peaks are of whisper-cli and what it starts.", Do: "Do not put these peaks beside those of a program that holds its model itself."},
	{Code: MemoryNotRecovered, Class: Note, Means: "After the program ended and the machine settled, its memory had not come back, or nothing tells.", Do: "See what else allocates; read the budget again before the next run."},
	{Code: FitExceeded, Class: Refuse, Means: "The run needs more memory than there is: gate 1, what it allocates and a reserve, against what is available now; or gate 2, its whole working set, against the limit.", Do: "Free the amount that is named, raise the limit, or use a smaller encoder."},
	{Code: FitUnknown, Class: Inconclusive, Means: "Whether the run fits cannot be told: Core ML's residency was not measured for this encoder, compute units and build of the system, or the system does not say what is available. The size of a file answers neither.", Do: "Measure it once with coregate bench on this machine, and give the submission with --measured."},
	{Code: FitGuessed, Class: Note, Means: "The budget is a guess and no live reading of this process's own limits.", Do: "Do not rely on a fit that is close."},
	{Code: MemoryEmergency, Class: Inconclusive, Means: "The memory that was left fell below 3 per cent of the budget, and the run was stopped before the system would kill it. The run proves nothing.", Do: "Free memory, and see coregate fit."},
}
