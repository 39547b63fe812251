package reason

// Definition is what a code means.
type Definition struct {
	// Code is upper case with underscores.
	Code string
	// Class says what the code does to a verdict.
	Class Class
	// Means is a sentence or two for someone who meets the code for the first time.
	Means string
	// Do says what to do about it.
	Do string
}

// Table is the definitions of a section.
type Table []Definition

// Section is a table under its heading in docs/reasons.md.
type Section struct {
	Title string
	Table Table
}

// Sections are all codes, in the order of docs/reasons.md.
var Sections = []Section{
	{"Runs", runs},
	{"Receipts", receipts},
	{"Signatures", signatures},
	{"Verification", verification},
	{"Releases", releases},
	{"Audits", audits},
	{"Artifacts", artifacts},
	{"Pins and patches", pins},
	{"Programs", programs},
	{"Patch experiment", experiment},
	{"Memory checkers", sanitizers},
	{"Candidate pins", candidates},
	{"Parity", parity},
	{"Hard values", hardvalues},
	{"Words", words},
	{"Placement", placements},
	{"Measurements", measurements},
	{"This program", program},
}

var definitions = index()

func index() map[string]Definition {
	all := map[string]Definition{}
	for _, s := range Sections {
		for _, d := range s.Table {
			all[d.Code] = d
		}
	}
	return all
}

// Lookup finds a code.
func Lookup(code string) (Definition, bool) {
	d, ok := definitions[code]
	return d, ok
}

// IsNote says whether a code changes no verdict. An unknown code is not a note.
func IsNote(code string) bool {
	d, ok := definitions[code]
	return ok && d.Class == Note
}

// VerdictOf is the verdict that follows from reasons: fail if any fails, else inconclusive if any is, else pass.
// An unknown code fails.
func VerdictOf(reasons []Reason) Verdict {
	v := Pass
	for _, r := range reasons {
		d, ok := Lookup(r.Code)
		switch {
		case !ok || d.Class == Fail || d.Class == Refuse:
			return Failed
		case d.Class == Inconclusive:
			v = Unknown
		}
	}
	return v
}
