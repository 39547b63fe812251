package pin

import (
	"bytes"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// withLF gives content with each CRLF as LF, and whether there was any.
func withLF(content []byte) ([]byte, bool) {
	lines := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	return lines, len(lines) != len(content)
}

// lineEnds says that a file differs from upstream's by its line ends, and what shows it.
func lineEnds(path, shown string) *reason.Error {
	return reason.Errorf(reason.SourceLineEnds, path, "lines that end with LF", "lines that end with CRLF; %s", shown)
}

// converted names the first file of a manifest that differs from its digest by its line ends alone.
func converted(m Manifest, src Source) *reason.Error {
	for _, e := range m {
		content, err := src.Read(e.Path)
		if err != nil {
			continue // what cannot be read is reported where it is hashed
		}
		if lines, was := withLF(content); was && Digest(lines) == e.SHA256 && Digest(content) != e.SHA256 {
			return lineEnds(e.Path, "with LF it is upstream's file")
		}
	}
	return nil
}
