package statement

import _ "embed"

// Schema is the JSON Schema of a receipt. It says less than [Decode] checks.
//
//go:embed receipt.schema.json
var Schema []byte
