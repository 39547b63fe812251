package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// bridge is a value of --//third_party/whisper_cpp:bridge, and what evidence says of it.
type bridge struct {
	name   string // lane_identity.bridge too
	coreML string // lane_identity.core_ml, and how its own lines on stderr begin
}

var bridges = [2]bridge{{"double", evidence.CoreMLDouble}, {"upstream", evidence.CoreMLStandIn}}

// compareFolders prints the lines in which files of the same name differ below folder/double and folder/upstream, and counts those
// and all.
func compareFolders(folder string, stdout io.Writer) (different, lines int, err error) {
	names := [2][]string{}
	for i, b := range bridges {
		entries, err := os.ReadDir(filepath.Join(folder, b.name))
		if err != nil {
			return 0, 0, err
		}
		for _, e := range entries {
			names[i] = append(names[i], e.Name())
		}
	}
	if len(names[0]) == 0 || !slices.Equal(names[0], names[1]) {
		return 0, 0, fmt.Errorf("%s holds evidence %q, %s holds %q: expected the same files, at least one", bridges[0].name, names[0], bridges[1].name, names[1])
	}
	for _, name := range names[0] {
		var both [2][]string
		for i, b := range bridges {
			if both[i], err = b.compared(filepath.Join(folder, b.name, name)); err != nil {
				return 0, 0, err
			}
		}
		all := max(len(both[0]), len(both[1]))
		lines += all
		for i := range all {
			if p, q := line(both[0], i), line(both[1], i); p != q {
				different++
				fmt.Fprintf(stdout, "%s, line %d\n  %s: %s\n  %s: %s\n", name, i+1, bridges[0].name, p, bridges[1].name, q)
			}
		}
	}
	return different, lines, nil
}

func line(lines []string, i int) string {
	if i >= len(lines) {
		return "(none)"
	}
	return lines[i]
}

// compared is the lines of a file of evidence with what says which bridge it was taken out or made equal. Evidence of another bridge
// is an error: a flag that did nothing would compare a bridge with itself.
func (b bridge) compared(path string) ([]string, error) {
	e, _, err := evidence.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for field, expected := range map[string]string{"bridge": b.name, "core_ml": b.coreML} {
		if found := e.LaneIdentity[field]; found != expected {
			return nil, fmt.Errorf("%s: lane_identity.%s: expected %q, found %q: this is no evidence of the bridge %s", path, field, expected, found, b.name)
		}
		e.LaneIdentity[field] = "(compared)"
	}
	e.Digests.CLI, e.Stderr.SHA256 = "", ""
	for i, l := range e.Stderr.Lines {
		e.Stderr.Lines[i] = b.neutral(l)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(e); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n"), nil
}

// neutral is a line on stderr without the bridge's name, and with a path as whisper-cli gave it: Foundation's URL is absolute
// (docs/bridge.md). A line that begins with the other bridge's name stays as it is.
func (b bridge) neutral(line string) string {
	rest, ok := strings.CutPrefix(line, b.coreML+": ")
	if !ok {
		return line
	}
	return "(bridge): " + strings.Replace(rest, "cannot load '$STAGE/", "cannot load '", 1)
}
