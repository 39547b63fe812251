package judgements

import (
	"regexp"
	"strings"
)

func form(says, pattern string) *Form {
	return &Form{says, regexp.MustCompile(`^(?:` + pattern + `)$`)}
}

const (
	// shown is a character that anyone sees as it is; receipts refuse hidden ones (package statement), and a line end is one.
	shown = `[^\x00-\x1f\x7f]`
	// dtype is a type of values, as package mil names them.
	dtype = `[a-z][a-z0-9]*`
	// scheme is one way in which weights are compressed, as package artifact writes it.
	scheme      = `(?:(?:` + dtype + `|[0-9]+-bit) )?` + schemeKind + `(?:\+` + schemeKind + `)*(?:, (?:per tensor|per channel|per block of [0-9]+|[0-9]+ palettes))?(?:, [0-9]{1,3}% zeros)?`
	schemeKind  = `(?:linear|pruned|cast|constexpr_[a-z_]+|palettised(?:, scaled per channel|, palette of ` + dtype + `)?(?:, vectors of [0-9]+)?)`
	decimal     = `[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?`
	undecided   = `temperature ` + decimal + ` draws tokens at random|temperature increment ` + decimal + ` falls back to sampling when a window fails its thresholds|the language is detected anew in every run`
	decided     = `none in the decoding; a near tie of two tokens falls either way where kernels or thread counts differ`
	powerResult = `no Neural Engine power in [0-9]+ samples|Neural Engine power above zero in [0-9]+ of [0-9]+ samples, mean [0-9]+\.[0-9]{3} W, largest [0-9]+\.[0-9]{3} W`
)

var (
	digest      = form("a SHA-256 in lower-case hexadecimal digits", `[0-9a-f]{64}`)
	fileName    = form("the name of a folder, *-encoder.mlmodelc", `[^/\x00-\x1f\x7f]{1,240}-encoder\.mlmodelc`)
	folder      = form("the name of a folder, *.mlmodelc", `[^/\x00-\x1f\x7f]{1,240}\.mlmodelc`)
	version     = form("a version in digits, such as 13.0", `(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){0,2}`)
	serial      = form("a number in digits", `[1-9][0-9]{0,8}`)
	osBuild     = form("a build of macOS, such as 24G720", `[0-9]+[A-Z][0-9A-Za-z]+`)
	free        = form("up to 300 visible characters, its own words", shown+`{1,300}`)
	compression = form("nothing, or the schemes of compressed weights", `(?:`+scheme+`(?:; `+scheme+`)*)?`)
	attempts    = form("one attempt, all: loaded", `all: loaded(?:, with `+shown+`+)?`)
	mac         = form("hardware, chip, macOS and its build: Mac16,10, Apple M4, macOS 15.6 (24G720)", `[A-Za-z][A-Za-z0-9 -]*(?:,[0-9]+)?(?:, [A-Za-z0-9][A-Za-z0-9 ._()@+-]*)?, macOS [0-9]+(?:\.[0-9]+)* \([0-9A-Za-z]+\)`)
	melSource   = form("built-in probe, tensor FILE or audio FILE", `built-in probe|(?:tensor|audio) [^/\x00-\x1f\x7f]{1,255}`)
	computed    = form("float64 from the .bin's tensors, or tensor FILE", `float64 from the \.bin's tensors|tensor [^/\x00-\x1f\x7f]{1,255}`)
	decoding    = form("none in the decoding, or the settings that may answer otherwise", decided+`|(?:`+undecided+`)(?:; (?:`+undecided+`))*`)
	units       = form("a set of compute units", `[a-z_]{1,40}`)
	powerForm   = form("a reading of powermetrics", powerResult)
	placed      = form("what the instrument saw", `[0-9]+ predictions of the encoder on Neural Engine, recorded \(Instruments trace\)|(?:Neural Engine|GPU|CPU|`+shown+`{1,40}) [0-9]+\.[0-9] %(?:, `+shown+`{1,40} [0-9]+\.[0-9] %)* of the estimated cost, planned \(MLComputePlan\)`)
	word        = form("one word of letters, digits and ._+:@/- of ASCII, up to 80 characters, or nothing", `[A-Za-z0-9._+:@/-]{0,80}`)
	hashed      = form("a SHA-256 in lower-case hexadecimal digits, or not found", `[0-9a-f]{64}|not found`)
	model       = form("a Mac's model identifier, such as Mac16,10", `[A-Za-z]{1,40}[0-9]+,[0-9]+`)
	named       = form("the name that the system prints, such as Apple M4", `[A-Za-z0-9][A-Za-z0-9 ._()@+-]{0,80}`)
)

// Word makes a text one that the toolchain's members may be: whatever is not in it becomes "_".
func Word(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() == 80 {
			break
		}
		if r > 0x7f || !word.re.MatchString(string(r)) {
			r = '_'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// IsMac says whether a text names a machine as Core ML's numbers and plans, and a recording, do.
func IsMac(text string) bool { return mac.re.MatchString(text) }
