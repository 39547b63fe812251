package whispercpp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// setting is a line of the library with a value of one name. A run of one model with one state has each name once; of the
// counters only the encoder's must be.
var setting = regexp.MustCompile(`^(whisper_(?:init_with_params_no_state|model_load|init_state): +[^=]+?|whisper_print_timings: +` + StageEncode + ` time) *=`)

// Setting is the name of the value that a line of the library gives, with the function that prints it, "" for other lines.
func Setting(line string) string {
	if m := setting.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

var header = regexp.MustCompile(`^whisper_model_load: (?:(?:n_[a-z_]+|ftype|qntvr|type|model size) *=|adding [0-9]+ extra tokens)`)

// Header keeps the lines of a log that say what is in the model's file, and depend on nothing else.
func Header(log []string) []string {
	var out []string
	for _, line := range log {
		if header.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

// sampleRate is that of all audio that the library hears, in samples a second.
const sampleRate = 16000

// Agree says that the line's seconds are those of its samples, as upstream divides and prints them.
func (p Processing) Agree() bool {
	n, err := strconv.ParseUint(p.Samples, 10, 40)
	return err == nil && p.Seconds == fmt.Sprintf("%.1f", float32(n)/sampleRate)
}

var reading = regexp.MustCompile(`^read_audio_data: reading audio data from '(.*)' \.\.\.$`)

// Reading is the recording that the program says it reads, before it decodes it.
func Reading(line string) (path string, ok bool) {
	m := reading.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return m[1], true
}

var greeting = regexp.MustCompile(`^` + emulation + `version ([0-9]+), protocol ([0-9]+), fault `)

// Greeting reads the version and protocol of what stands for Core ML on the emulated lane, from its first line.
func Greeting(line string) (version, protocol string, ok bool) {
	m := greeting.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// OpenVINO says that a system_info line is of a build with another encoder beside ggml's and Core ML's.
func OpenVINO(systemInfo string) bool {
	for _, segment := range strings.Split(systemInfo, "|") {
		if strings.TrimSpace(segment) == "OPENVINO = 1" || strings.HasSuffix(strings.TrimSpace(segment), ": OPENVINO = 1") {
			return true
		}
	}
	return false
}
