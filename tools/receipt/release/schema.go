package release

import _ "embed"

// Schema is the JSON Schema of a release. It says less than [Decode] checks.
//
//go:embed release.schema.json
var Schema []byte
