package measure

import (
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/ceiling"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/specialised"
)

// Schema is the version of the submission's form.
const Schema = 1

// Mode is which question the session asked.
type Mode string

// The three questions, which rank the same encoders in three orders.
const (
	Burst     Mode = "burst"
	Sustained Mode = "sustained"
	Energy    Mode = "energy"
)

// Status says whether a session came to its end.
type Status string

// The two statuses.
const (
	Complete    Status = "complete"
	Interrupted Status = "interrupted"
)

// Submission is one session.
type Submission struct {
	Schema   int         `json:"schema"`
	Protocol ProtocolRef `json:"protocol"`
	Mode     Mode        `json:"mode"`
	Status   Status      `json:"status"`
	// Session names this session among others: a digest of machine, start and what was measured.
	Session   string `json:"session"`
	StartedAt string `json:"started_at"`
	// Lane is physical or emulated.
	Lane    string              `json:"lane"`
	Machine environment.Machine `json:"machine"`
	Ceiling ceiling.Ceiling     `json:"ceiling"`
	Work    Work                `json:"work"`
	// Control names the arm that every session of this machine has.
	Control string `json:"control"`
	Arms    []Arm  `json:"arms"`
	// Drift is the control arm against the last session's, where one was given.
	Drift *Drift `json:"drift"`
}

// ProtocolRef names the protocol by digest.
type ProtocolRef struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Work is what every run was asked, which is part of the number.
type Work struct {
	AudioSHA256 string   `json:"audio_sha256"`
	Language    string   `json:"language"`
	Threads     int      `json:"threads"`
	Arguments   []string `json:"arguments"`
	// Environment is the program's whole environment; nothing is inherited.
	Environment     map[string]string `json:"environment"`
	DeadlineSeconds int               `json:"deadline_seconds"`
}

// Arm is one artifact and its runs.
type Arm struct {
	Name     string              `json:"name"`
	Program  environment.Program `json:"program"`
	Artifact Artifact            `json:"artifact"`
	Runs     []Run               `json:"runs"`
}

// Artifact is exactly what was run: by digest, and by what "int4" alone does not say.
type Artifact struct {
	ModelSHA256 string `json:"model_sha256"`
	// EncoderDigest is the tree digest of the .mlmodelc; "" for ggml's own encoder.
	EncoderDigest string `json:"encoder_digest"`
	EncoderBytes  int64  `json:"encoder_bytes"`
	// Weights and Compute are the precisions; Compression has scheme, bits and granularity of each kind of weight.
	Weights     string   `json:"weights"`
	Compute     string   `json:"compute"`
	Compression []Scheme `json:"compression"`
	Producer    string   `json:"producer"`
	// Units are the compute units that were asked for; where operations ran, nothing here tells.
	Units string `json:"units"`
	// FLOP and Bytes are the operations of one encode, and the weights that it reads at least once; null if not known.
	FLOP  *float64 `json:"flop"`
	Bytes *int64   `json:"bytes"`
}

// Scheme is one way in which weights are compressed.
type Scheme struct {
	Kind        string `json:"kind"`
	Bits        int    `json:"bits"`
	Type        string `json:"type"`
	Granularity string `json:"granularity"`
	Values      int64  `json:"values"`
}

// Kind is what a run was for.
type Kind string

// The kinds of runs.
const (
	Cold   Kind = "cold"
	WarmUp Kind = "warm_up"
	Warm   Kind = "warm"
	Paired Kind = "pair"
	Steady Kind = "sustained"
)

// Run is one start of the program.
type Run struct {
	Kind Kind `json:"kind"`
	// Index is the run's place in the session, from 0; Pair the number of the pair it belongs to, from 1, else 0.
	Index int `json:"index"`
	Pair  int `json:"pair"`
	// SecondsIn is how far into the session the run began.
	SecondsIn float64           `json:"seconds_in"`
	Before    environment.State `json:"before"`
	After     environment.State `json:"after"`
	// OthersShare is the share of all processors that others used during the run; null if the system does not say.
	OthersShare *float64 `json:"others_share"`
	// PageCache is dropped, kept or unknown: what was done to the files before the run.
	PageCache string `json:"page_cache"`
	// Specialised is what macOS kept of compiled models around a cold run of the physical lane; left out of every other one.
	Specialised *specialised.Around `json:"specialised,omitempty"`
	// Exit is "code N", "signal N", "timeout", "interrupted" or "memory".
	Exit        string  `json:"exit"`
	WallSeconds float64 `json:"wall_seconds"`
	Timings     Timings `json:"timings"`
	Words       Words   `json:"words"`
	Memory      Memory  `json:"memory"`
	// Power is null but in energy mode.
	Power *Power `json:"power"`
	// Excluded lists why the run makes no figure; it follows from the rest and is checked.
	Excluded []string `json:"excluded"`
}

// Words are the program's output, by digest.
type Words struct {
	Count  int    `json:"count"`
	SHA256 string `json:"sha256"`
}

// Memory is a run's memory, in both figures.
type Memory struct {
	BeforeLoad memory.Reading `json:"before_load"`
	// AtLoad is when the load marker was printed, AfterWords when the first words were; null if they never were.
	AtLoad     *memory.Reading `json:"at_load"`
	AfterWords *memory.Reading `json:"after_words"`
	// Series is at 1 Hz.
	Series             []memory.Reading `json:"series"`
	PeakResidentBytes  *int64           `json:"peak_resident_bytes"`
	PeakFootprintBytes *int64           `json:"peak_footprint_bytes"`
	// ProgramPeakResidentBytes is of whisper-cli alone, by the system's own account of it.
	ProgramPeakResidentBytes *int64 `json:"program_peak_resident_bytes"`
	// LimitBytes is what held at the start, and Overcommit the peak resident set over it.
	LimitBytes *int64          `json:"limit_bytes"`
	Overcommit *float64        `json:"overcommit"`
	Recovery   memory.Recovery `json:"recovery"`
	// OutOfProcess says who else may hold memory for this run: "none", or whose it is.
	OutOfProcess string `json:"out_of_process"`
}

// Power is what an instrument read over an energy run.
type Power struct {
	// Instrument is powermetrics or rapl.
	Instrument string `json:"instrument"`
	// MeanWatts is over the run's window, IdleWatts over as long a time without load just before.
	MeanWatts float64 `json:"mean_watts"`
	IdleWatts float64 `json:"idle_watts"`
	Seconds   float64 `json:"seconds"`
	Samples   int     `json:"samples"`
	// Inferences is how many encodes the window held; the load is outside of the window or in it.
	Inferences   int  `json:"inferences"`
	IncludesLoad bool `json:"includes_load"`
	// WholeSystem says that everything that ran is in the figure.
	WholeSystem bool `json:"whole_system"`
	// AfterLoad is the part of the window since the program had loaded its model; left out where nothing was read since then. What
	// the load took lies between the two.
	AfterLoad *PowerPart `json:"after_load,omitempty"`
}

// PowerPart is a part of a window.
type PowerPart struct {
	MeanWatts float64 `json:"mean_watts"`
	Seconds   float64 `json:"seconds"`
	Samples   int     `json:"samples"`
}

// Drift is the control arm against the last session's.
type Drift struct {
	Session string  `json:"session"`
	Ratio   float64 `json:"ratio"`
}
