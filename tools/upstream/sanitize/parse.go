package sanitize

import (
	"bufio"
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Finding is one kind of report of a tool.
type Finding struct {
	// Kind is what the tool calls it, such as "heap-use-after-free", without addresses.
	Kind string `json:"kind"`
	// Functions are the stack, the innermost first, as far as it has names; without arguments.
	Functions []string `json:"functions"`
	// Times counts equal reports.
	Times int `json:"times"`
	// Batch says that the stack leads through the free of the batch.
	Batch bool `json:"batch"`
	// Unnamed says that the stack has no names, or that a frame of the program itself has none: so it may be of the batch.
	Unnamed bool `json:"unnamed"`
}

// maxFindings bounds how many different reports are kept.
const maxFindings = 1000

// The functions that free the batch: whisper_batch_free may be inlined into its only caller on this way.
var batchFunctions = []string{"whisper_batch_free", "whisper_free_state"}

var (
	// ==1==ERROR: AddressSanitizer: SEGV on unknown address …; ==1==WARNING: MemorySanitizer: use-of-uninitialized-value
	sanitizerHead = regexp.MustCompile(`^==\d+==\s?(?:ERROR|WARNING): (?:Address|Memory|Leak|UndefinedBehavior)Sanitizer:? (.*)$`)
	// whisper.cpp:1:2: runtime error: …
	undefinedHead = regexp.MustCompile(`^\S+:\d+:\d+: runtime error: (.*)$`)
	// ==1== Conditional jump or move depends on uninitialised value(s)
	valgrindHead  = regexp.MustCompile(`^==\d+== ([A-Z][^=]*)$`)
	valgrindFrame = regexp.MustCompile(`^==\d+==\s+(?:at|by) 0x[0-9A-F]+: (.*)$`)
	sanitizerIn   = regexp.MustCompile(`^\s+#\d+ 0x[0-9a-f]+\s+(?:in )?(.*)$`)
	// Where a frame without a name stands: ??? (in /usr/lib/libc.so.6), (/usr/lib/libc.so.6+0x1).
	nameless = regexp.MustCompile(`^(?:\?\?\?|<null>|)\s*(?:\((?:in )?([^()]*)\).*)?$`)
	library  = regexp.MustCompile(`\.so\b|\.dylib\b|/dyld\b|/Frameworks/`)
	address  = regexp.MustCompile(`\s*\(?(?:on |from )?(?:unknown )?(?:address |0x)[0-9a-fx]*.*$`)
)

// What valgrind says that is a fault of the program; the rest of its lines are about itself.
var valgrindKinds = []string{"Conditional jump", "Use of uninitialised", "Invalid ", "Mismatched ", "Syscall param", "Process terminating", "Source and destination", "Jump to the invalid", "Argument '", "Illegal "}

// Parse reads the reports in a tool's output. Equal ones, by kind and stack, are one. A stack ends at the first line that
// is not a frame; a report's further stacks (where memory came from) are not part of it.
func Parse(stderr []byte) []Finding {
	out := []Finding{}
	var open *Finding
	frames := 0
	done := func() {
		if open == nil {
			return
		}
		open.Unnamed = !open.Batch && (open.Unnamed || len(open.Functions) == 0)
		if i := slices.IndexFunc(out, open.equal); i >= 0 {
			out[i].Times++
		} else if len(out) < maxFindings {
			out = append(out, *open)
		}
		open = nil
	}
	lines := bufio.NewScanner(bytes.NewReader(stderr))
	lines.Buffer(nil, len(stderr)+1)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), "\r")
		if kind := head(line); kind != "" {
			done()
			open, frames = &Finding{Kind: kind, Functions: []string{}, Times: 1}, 0
			continue
		}
		f, isFrame := frameOf(line)
		switch {
		case open == nil:
		case isFrame:
			frames++
			if f.name != "" {
				open.Functions = append(open.Functions, f.name)
			}
			open.Batch = open.Batch || slices.Contains(batchFunctions, f.name)
			open.Unnamed = open.Unnamed || f.name == "" && !f.library
		case frames > 0:
			done()
		}
	}
	done()
	return out
}

func (f *Finding) equal(g Finding) bool {
	return f.Kind == g.Kind && f.Unnamed == g.Unnamed && slices.Equal(f.Functions, g.Functions)
}

// head is the kind of the report that begins with a line, or "".
func head(line string) string {
	if m := sanitizerHead.FindStringSubmatch(line); m != nil {
		return strings.TrimSpace(address.ReplaceAllString(m[1], ""))
	}
	if m := undefinedHead.FindStringSubmatch(line); m != nil {
		return strings.TrimSpace(address.ReplaceAllString(m[1], ""))
	}
	if m := valgrindHead.FindStringSubmatch(line); m != nil {
		for _, kind := range valgrindKinds {
			if strings.HasPrefix(m[1], kind) {
				return strings.TrimSpace(m[1])
			}
		}
	}
	return ""
}

// frame is a line of a stack: a function, or "", and whether it is a library's.
type frame struct {
	name    string
	library bool
}

func frameOf(line string) (f frame, ok bool) {
	m := sanitizerIn.FindStringSubmatch(line)
	if m == nil {
		m = valgrindFrame.FindStringSubmatch(line)
	}
	if m == nil {
		return frame{}, false
	}
	text := strings.TrimSpace(m[1])
	if m := nameless.FindStringSubmatch(text); m != nil {
		return frame{library: library.MatchString(m[1])}, true
	}
	name, _, _ := strings.Cut(strings.ReplaceAll(text, "(anonymous namespace)", "_"), "(")
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
	// GCC's parts of a function carry its name and a suffix.
	name, _, _ = strings.Cut(name, ".")
	return frame{name: name}, true
}
