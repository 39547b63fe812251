package whispercpp

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// Sizes are the blocks of memory that the runtime allocates while it loads a model, as it prints them itself, in bytes by name:
// "weights" (all buffers together), "kv self", "kv cross", "kv pad", and the compute buffers "conv", "encode" (with ggml's own
// encoder alone), "cross" and "decode". Compute buffers are measured from the graphs before the first step. There is no call that
// sizes without allocating.
type Sizes map[string]int64

// sizeNames are what every run that loaded its model prints once, and "encode" what one of ggml's own encoder prints.
var sizeNames = []string{"weights", "kv self", "kv cross", "kv pad", "conv", "cross", "decode"}

const encodeBuffer = "encode"

var (
	weightSize = regexp.MustCompile(`^whisper_model_load: .* total size = +([0-9]+\.[0-9]+) MB$`)
	cacheSize  = regexp.MustCompile(`^whisper_init_state: (kv (?:self|cross|pad)) +size += +([0-9]+\.[0-9]+) MB$`)
	bufferSize = regexp.MustCompile(`^whisper_init_state: compute buffer \(([a-z]+)\) += +([0-9]+\.[0-9]+) MB$`)
)

// ReadSizes reads what one run printed of its sizes, line by line. It refuses a log that lacks one, or has one twice: its sum
// would be of another program's memory. A megabyte is 10^6 bytes, as the runtime prints it.
func ReadSizes(lines []string) (Sizes, error) {
	out, n := Sizes{}, map[string]int{}
	for _, line := range lines {
		name, text := "", ""
		if m := weightSize.FindStringSubmatch(line); m != nil {
			name, text = "weights", m[1]
		} else if m := cacheSize.FindStringSubmatch(line); m != nil {
			name, text = m[1], m[2]
		} else if m := bufferSize.FindStringSubmatch(line); m != nil {
			name, text = m[1], m[2]
		} else {
			continue
		}
		mb, err := strconv.ParseFloat(text, 64)
		if err != nil || mb > 1<<30 {
			return nil, fmt.Errorf("size of %s: expected megabytes, found %q", name, line)
		}
		n[name]++
		out[name] += int64(math.Round(mb * 1e6))
	}
	for _, name := range sizeNames {
		// A model's weights may lie in several buffers.
		if n[name] == 0 || n[name] > 1 && name != "weights" {
			return nil, fmt.Errorf("size of %s: expected one line of it, as the runtime prints while it loads a model, found %d", name, n[name])
		}
	}
	if n[encodeBuffer] > 1 {
		return nil, fmt.Errorf("size of %s: expected one line of it at most, found %d", encodeBuffer, n[encodeBuffer])
	}
	return out, nil
}

// OwnEncoder says whether ggml's own encoder was among what was set up.
func (s Sizes) OwnEncoder() bool { _, ok := s[encodeBuffer]; return ok }
