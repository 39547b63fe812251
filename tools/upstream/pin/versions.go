package pin

import (
	"regexp"
	"strings"
)

var (
	projectVersion = regexp.MustCompile(`(?m)^project\("?whisper\.cpp"? VERSION ([0-9.]+)\)`)
	ggmlVersion    = regexp.MustCompile(`(?m)^set\(GGML_VERSION_(?:MAJOR|MINOR|PATCH) ([0-9]+)\)`)
)

// String is the versions on one line.
func (v Versions) String() string {
	return "whisper " + v.Whisper + ", ggml " + v.GGML + ", ggml commit " + v.GGMLCommit
}

// ReadVersions reads what a source's CMake files say about itself; "unknown" stands for what they do not say.
func ReadVersions(src Source, commit string) Versions {
	v := Versions{GGML: "unknown", GGMLCommit: commit[:min(9, len(commit))], Whisper: "unknown"}
	if text, err := src.Read("CMakeLists.txt"); err == nil {
		if m := projectVersion.FindSubmatch(text); m != nil {
			v.Whisper = string(m[1])
		}
	}
	if text, err := src.Read("ggml/CMakeLists.txt"); err == nil {
		var parts []string
		for _, m := range ggmlVersion.FindAllSubmatch(text, -1) {
			parts = append(parts, string(m[1]))
		}
		if len(parts) == 3 {
			v.GGML = strings.Join(parts, ".")
		}
	}
	return v
}
