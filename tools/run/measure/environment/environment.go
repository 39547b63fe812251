// Package environment captures what a measurement was made in: the machine, and its state before and after each run.
//
// Nobody types a value. On Linux it comes from /proc, /sys and DMI; on macOS from sysctl, pmset, vm_stat, top, sw_vers and
// NSProcessInfo (through osascript). What a system does not say is "unknown", or null where a number belongs; it is never
// filled in with a guess, and package measure takes no unknown for an answer.
package environment

// Unknown is what a field says that the system does not answer.
const Unknown = "unknown"

// Machine is what does not change while a session lasts.
type Machine struct {
	// ID tells this machine from others without telling which it is.
	ID string `json:"id"`
	// Hardware is the maker's identifier, such as Mac16,10; not the marketing name, which is shared by configurations.
	Hardware string `json:"hardware"`
	Chip     string `json:"chip"`
	Cores    Cores  `json:"cores"`
	// OS and OSBuild are of the system; builds differ where versions do not.
	OS      string `json:"os"`
	OSBuild string `json:"os_build"`
	Kernel  string `json:"kernel"`
	// MemoryBytes is the physical memory.
	MemoryBytes *int64 `json:"memory_bytes"`
	// VirtualMachine is yes, no or unknown.
	VirtualMachine string `json:"virtual_machine"`
}

// Cores counts processors; null where the system does not tell the kinds apart.
type Cores struct {
	Logical     int  `json:"logical"`
	Physical    *int `json:"physical"`
	Performance *int `json:"performance"`
	Efficiency  *int `json:"efficiency"`
}

// State is what may change from run to run.
type State struct {
	// At is when, RFC 3339 in UTC.
	At string `json:"at"`
	// Thermal is nominal, fair, serious, critical or unknown. It is coarse: a machine can slow down by several per cent
	// while it stays nominal, which is why runs carry their index and their time within the session.
	Thermal string `json:"thermal"`
	// LowPower is on, off or unknown.
	LowPower string `json:"low_power"`
	// PowerSource is ac, battery or unknown.
	PowerSource string `json:"power_source"`
	// BatteryLevel is 0 to 1; null without a battery.
	BatteryLevel *float64 `json:"battery_level"`
	// BatteryState is charging, discharging, charged, none or unknown.
	BatteryState   string `json:"battery_state"`
	FreeDiskBytes  *int64 `json:"free_disk_bytes"`
	AvailableBytes *int64 `json:"available_bytes"`
	// BusyShare is the share of all processors that was busy just before, 0 to 1.
	BusyShare *float64 `json:"busy_share"`
	// OurActions are programs of this project that ran elsewhere on the machine at that time.
	OurActions []string `json:"our_actions"`
}

// Strain is what limits how much a machine should be asked for, read quickly.
type Strain struct {
	// Thermal and LowPower are as in [State].
	Thermal  string `json:"thermal"`
	LowPower string `json:"low_power"`
}

// Program is how the measured program was made.
type Program struct {
	SHA256 string `json:"sha256"`
	// Flavour is how whisper-cli was built.
	Flavour string `json:"flavour"`
	// BuildMode is release or debug, from the definitions of its compile actions (NDEBUG); unknown without them.
	BuildMode string `json:"build_mode"`
	// Compiler is the stamp that the compiler left in the program.
	Compiler string `json:"compiler"`
	// SDK is that of a Mach-O program, with the oldest system it runs on.
	SDK string `json:"sdk"`
	// Xcode is the build of Xcode of the physical lane's identity.
	Xcode string `json:"xcode"`
	// Evaluator is the digest of the emulated lane's evaluator; "" on the physical lane.
	Evaluator string `json:"evaluator_sha256"`
}

// ours are the programs whose work beside a measurement falsifies it.
var ours = []string{"whisper-cli", "gate_evaluator", "gate_run", "gate_words", "gate_parity", "gate_encoder", "gate_coremlc", "coremlprobe", "coremlc"}
