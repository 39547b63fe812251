package measure

import _ "embed"

// SubmissionSchema is the JSON Schema of a submission, for readers in other languages. It says less than [Check] does.
//
//go:embed submission.schema.json
var SubmissionSchema []byte
