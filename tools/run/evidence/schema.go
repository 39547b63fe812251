package evidence

import _ "embed"

// JSON Schemas of the two files, for readers in other languages. They say less than this package
// checks: canonical form, digests over lines, and that no key occurs twice are beyond them.
var (
	//go:embed evidence.schema.json
	EvidenceSchema []byte
	//go:embed observations.schema.json
	ObservationsSchema []byte
)
