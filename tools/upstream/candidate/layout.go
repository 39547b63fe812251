package candidate

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// Places are where the files that are read stand in a candidate, by where the supported pin has them. A file that is
// nowhere is not in it.
type Places map[string]string

// earlier are the places of these files before upstream moved them: the library and Core ML into src (v1.7.0), the
// program from main to cli (v1.7.4).
var earlier = map[string]string{
	librarySource: "whisper.cpp",
	cliSource:     "examples/main/main.cpp",
	bridgeSource:  "coreml/whisper-encoder.mm",
	bridgeImpl:    "coreml/whisper-encoder-impl.m",
	bridgeHeader:  "coreml/whisper-encoder.h",
}

// readFiles in the order in which they are spoken of.
var readFiles = []string{librarySource, cliSource, bridgeSource, bridgeImpl, bridgeHeader}

// locate finds the files that are read.
func locate(nodes []pin.Node) Places {
	has := map[string]bool{}
	for _, n := range nodes {
		has[n.Path] = n.Mode == pin.ModeFile || n.Mode == pin.ModeExecutable
	}
	places := Places{}
	for _, file := range readFiles {
		switch {
		case has[file]:
			places[file] = file
		// The old name of the program stayed as a stub for a while.
		case has[earlier[file]]:
			places[file] = earlier[file]
		}
	}
	return places
}

// moved says which files stand where they did in an earlier layout, or "".
func (p Places) moved() string {
	var out []string
	for _, file := range readFiles {
		if at, ok := p[file]; ok && at != file {
			out = append(out, fmt.Sprintf("%s at %s", file, at))
		}
	}
	return strings.Join(out, ", ")
}

// absent lists what was looked for and where.
func (p Places) absent() string {
	var out []string
	for _, file := range readFiles {
		if _, ok := p[file]; !ok {
			out = append(out, fmt.Sprintf("%s (nor %s)", file, earlier[file]))
		}
	}
	return strings.Join(out, ", ")
}
