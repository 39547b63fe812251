package candidate

import (
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Places are where the files that are read stand in a candidate, by where the supported pin has them. A file that is
// nowhere is not in it.
type Places map[string]string

// locate finds the files that are read.
func locate(nodes []pin.Node) Places {
	has := map[string]bool{}
	for _, n := range nodes {
		has[n.Path] = n.Mode == pin.ModeFile || n.Mode == pin.ModeExecutable
	}
	places := Places{}
	for _, file := range whispercpp.Sources {
		switch {
		case has[file]:
			places[file] = file
		// The old name of the program stayed as a stub for a while.
		case has[whispercpp.EarlierSources[file]]:
			places[file] = whispercpp.EarlierSources[file]
		}
	}
	return places
}

// moved says which files stand where they did in an earlier layout, or "".
func (p Places) moved() string {
	var out []string
	for _, file := range whispercpp.Sources {
		if at, ok := p[file]; ok && at != file {
			out = append(out, fmt.Sprintf("%s at %s", file, at))
		}
	}
	return strings.Join(out, ", ")
}

// absent lists what was looked for and where.
func (p Places) absent() string {
	var out []string
	for _, file := range whispercpp.Sources {
		if _, ok := p[file]; !ok {
			out = append(out, fmt.Sprintf("%s (nor %s)", file, whispercpp.EarlierSources[file]))
		}
	}
	return strings.Join(out, ", ")
}
