package reason

// This program: codes.
const (
	NotJudged = "NOT_JUDGED"
)

var program = Table{
	{Code: NotJudged, Class: Inconclusive, Means: "The command could not judge: its arguments, its input or its output are not usable. It exits with 2, and its verdict is \"error\".", Do: "Read what was found; coregate COMMAND --help shows the arguments."},
}
