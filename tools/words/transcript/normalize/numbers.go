package normalize

import (
	"bytes"
	"math/big"
	"strings"
	"unicode/utf8"
)

// maxDigits bounds a digit string that is read as a number; a longer one stays a word.
const maxDigits = 4300

// standardizeNumbers writes spelled-out numbers in digits. s is lower case and free of symbols but numberSigns.
func standardizeNumbers(s string) string {
	s = splitDigitsFromLetters(spellHalves(s))
	words := strings.FieldsFunc(s, isSpace)
	r := numberReader{out: make([]string, 0, len(words))}
	for i := 0; i < len(words); i++ {
		prev, next := "", ""
		if i > 0 {
			prev = words[i-1]
		}
		if i+1 < len(words) {
			next = words[i+1]
		}
		if r.read(prev, words[i], next) {
			i++ // next was read with this word
		}
	}
	if r.pending() {
		r.flush()
	}
	return tidyNumbers(strings.Join(r.out, " "))
}

// A numberReader is the state between words: the number read so far and the sign that it will carry.
//
// The number is kept as an integer as long as arithmetic on it makes sense ("two hundred" + "five"), and as digits
// once words are strung together ("one oh one", "3.14").
type numberReader struct {
	out    []string
	sign   string
	isInt  bool
	num    big.Int
	isText bool
	text   []byte
}

func (r *numberReader) pending() bool { return r.isInt || r.isText }

// emit writes a word, with the sign that waits, and forgets the number.
func (r *numberReader) emit(w string) {
	r.out = append(r.out, r.sign+w)
	r.sign, r.isInt, r.isText, r.text = "", false, false, nil
}

// flush emits the number that was read.
func (r *numberReader) flush() { r.emit(r.digits()) }

// flushAnd emits the number, if there is one, and then the word.
func (r *numberReader) flushAnd(w string) {
	if r.pending() {
		r.flush()
	}
	r.emit(w)
}

// digits is the number as text, or "" when there is none.
func (r *numberReader) digits() string {
	switch {
	case r.isInt:
		return r.num.String()
	case r.isText:
		return string(r.text)
	}
	return ""
}

func (r *numberReader) setInt(v *big.Int) {
	r.num.Set(v)
	r.isInt, r.isText, r.text = true, false, nil
}

// appendText strings s to the digits of the number.
func (r *numberReader) appendText(s string) {
	if r.isInt {
		r.text = append(r.text[:0], r.num.String()...)
	}
	r.text = append(r.text, s...)
	r.isInt, r.isText = false, true
}

// appendDigits is appendText, except that a number that is zero, or none, counts as nothing: "0 oh" is "0".
func (r *numberReader) appendDigits(s string) {
	if r.isInt && r.num.Sign() == 0 {
		r.isInt = false
	}
	r.appendText(s)
}

// multipleOf reports whether the integer read so far ends in a zero place that v can fill.
func (r *numberReader) multipleOf(v int64) bool {
	var rem big.Int
	return rem.Rem(&r.num, big.NewInt(v)).Sign() == 0
}

// read takes one word and reports whether it took the next one too.
func (r *numberReader) read(prev, cur, next string) bool {
	if sign, body := cutSign(cur); isNumeral(body) {
		r.readNumeral(cur, sign, body)
		return false
	}
	w, known := lexicon[cur]
	if !known {
		r.flushAnd(cur)
		return false
	}
	switch w.class {
	case classZero:
		r.appendDigits("0")
	case classOne, classTen:
		r.add(prev, w)
	case classOneEnded, classTenEnded:
		r.add(prev, w)
		r.emit(r.digits() + w.suffix)
	case classScale:
		r.multiply(w)
	case classScaleEnded:
		r.multiply(w)
		r.emit(r.digits() + w.suffix)
	case classSign:
		if r.pending() {
			r.flush()
		}
		if _, ok := lexicon[next]; ok || isNumeral(next) {
			r.sign = string(w.sign)
		} else {
			r.emit(cur)
		}
	case classCurrency:
		if r.pending() {
			r.sign = string(w.sign)
			r.flush()
		} else {
			r.emit(cur)
		}
	case classPercent, classPer:
		return r.readPercent(cur, next, w)
	default:
		return r.readSpecial(prev, cur, next, w)
	}
	return false
}

// readNumeral takes a number that is written in digits already.
func (r *numberReader) readNumeral(cur, sign, body string) {
	if r.pending() {
		if r.isText && bytes.HasSuffix(r.text, []byte(".")) {
			r.appendText(cur)
			return
		}
		r.flush()
	}
	if sign != "" {
		r.sign = sign
	}
	if v, ok := integral(body); ok {
		r.setInt(v)
	} else {
		r.appendText(body)
	}
}

// add takes a unit or a ten: it fills zero places of an integer, and else is strung to the digits.
func (r *numberReader) add(prev string, w numberWord) {
	digits := big.NewInt(int64(w.value)).String()
	unit := w.class == classOne || w.class == classOneEnded
	places := int64(100)
	if unit && w.value < 10 {
		places = 10
	}
	switch {
	case !r.pending():
		r.setInt(big.NewInt(int64(w.value)))
	case r.isText || (unit && hasClass(prev, classOne)):
		if unit && w.value < 10 && hasClass(prev, classTen) {
			r.text = r.text[:len(r.text)-1] // "1920 5" strung together is 1925: the unit replaces the ten's zero
		}
		r.appendText(digits)
	case r.multipleOf(places):
		r.num.Add(&r.num, big.NewInt(int64(w.value)))
	default:
		r.appendText(digits)
	}
}

// multiply takes a scale word. An integer's last three places are multiplied ("two thousand three hundred"); strung
// digits as a whole, if that leaves an integer ("1.5 million"); else they are a number of their own.
func (r *numberReader) multiply(w numberWord) {
	switch {
	case r.isText:
		if v, ok := scaled(string(r.text), w.scale); ok {
			r.setInt(v)
			return
		}
		r.flush()
		r.setInt(w.scale)
	case r.isInt:
		var residual big.Int
		residual.Rem(&r.num, big.NewInt(1000))
		r.num.Sub(&r.num, &residual)
		r.num.Add(&r.num, residual.Mul(&residual, w.scale))
	default:
		r.setInt(w.scale)
	}
}

func (r *numberReader) readPercent(cur, next string, w numberWord) bool {
	switch {
	case !r.pending():
		r.emit(cur)
	case w.class == classPercent:
		r.emit(r.digits() + "%")
	case next == "cent":
		r.emit(r.digits() + "%")
		return true
	default:
		r.flushAnd(cur)
	}
	return false
}

// readSpecial takes and, double, triple and point, which only mean something before a number.
func (r *numberReader) readSpecial(prev, cur, next string, w numberWord) bool {
	if _, ok := lexicon[next]; !ok && !isNumeral(next) {
		r.flushAnd(cur)
		return false
	}
	switch w.class {
	case classAnd:
		if !hasClass(prev, classScale) { // "two hundred and five" goes on
			r.flushAnd(cur)
		}
	case classRepeat:
		n := lexicon[next]
		if n.class != classOne && n.class != classZero {
			r.flushAnd(cur)
			return false
		}
		r.appendDigits(strings.Repeat(big.NewInt(int64(n.value)).String(), w.value))
		return true
	case classPoint:
		if isDecimalWord(next) || isNumeral(next) {
			r.appendDigits(".")
		}
	}
	return false
}

// cutSign splits a leading sign or currency symbol from a word.
func cutSign(w string) (sign, body string) {
	r, n := utf8.DecodeRuneInString(w)
	if strings.ContainsRune("-+£€$¢", r) {
		return w[:n], w[n:]
	}
	return "", w
}

// isNumeral reports decimal digits with at most one fraction; digits are those of any script.
func isNumeral(w string) bool {
	whole, fraction, dotted := strings.Cut(w, ".")
	return allDigits(whole) && (!dotted || allDigits(fraction)) && len(w) <= maxDigits
}

func allDigits(w string) bool {
	for _, r := range w {
		if !isDigit(r) {
			return false
		}
	}
	return w != ""
}

// asciiDigits writes digits of any script as ASCII ones, and reports false at anything else.
func asciiDigits(w string) (string, bool) {
	b := make([]byte, 0, len(w))
	for _, r := range w {
		v := digitValue(r)
		if v < 0 {
			return "", false
		}
		b = append(b, '0'+byte(v))
	}
	return string(b), true
}

// integral gives the value of a numeral without a fraction, or with a fraction of zeros.
func integral(w string) (*big.Int, bool) { return scaled(w, big.NewInt(1)) }

// scaled gives w times scale if w is a decimal number and the product is an integer. Scales are powers of ten.
func scaled(w string, scale *big.Int) (*big.Int, bool) {
	whole, fraction, _ := strings.Cut(w, ".")
	whole, ok1 := asciiDigits(whole)
	fraction, ok2 := asciiDigits(fraction)
	if !ok1 || !ok2 || whole+fraction == "" || len(whole)+len(fraction) > maxDigits {
		return nil, false
	}
	v, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, false
	}
	denominator := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
	v.Mul(v, scale)
	var rem big.Int
	v.QuoRem(v, denominator, &rem)
	return v, rem.Sign() == 0
}
