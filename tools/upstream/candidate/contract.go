package candidate

import (
	"bytes"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// Clause is one thing in upstream's source on which the gates rely.
type Clause struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Kept says that it is still there.
	Kept bool `json:"kept"`
}

// Contract looks for every clause in a source tree, in the files at their places. A file that is nowhere keeps none of its
// clauses.
func Contract(src pin.Source, places Places) []Clause {
	files := map[string][]byte{}
	out := make([]Clause, 0, len(whispercpp.Clauses))
	for _, c := range whispercpp.Clauses {
		text, ok := files[c.File]
		if at, there := places[c.File]; there && !ok {
			text, _ = src.Read(at) // unreadable: empty, so nothing is kept
			text = compiled(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
			files[c.File] = text
		}
		out = append(out, Clause{Name: c.Name, File: c.File, Kept: c.Kept(text)})
	}
	return out
}
