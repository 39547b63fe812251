package reason

// Hard values: codes.
const (
	HardValueDiffers = "HARD_VALUE_DIFFERS"
	HardValueAgrees  = "HARD_VALUE_AGREES"
	HardValueUnknown = "HARD_VALUE_UNKNOWN"
)

var hardvalues = Table{
	{Code: HardValueDiffers, Class: Fail, Means: "A case of the corpus of hard values has another answer than its definition gives.", Do: "Find out which is wrong. A difference that is understood goes to tools/encoder/hardvalues/known.json."},
	{Code: HardValueAgrees, Class: Fail, Means: "A case that is listed as differing does not differ.", Do: "Take it off tools/encoder/hardvalues/known.json."},
	{Code: HardValueUnknown, Class: Fail, Means: "The list of known differences names a case that the corpus has not.", Do: "Take it off tools/encoder/hardvalues/known.json, or correct its name."},
}
