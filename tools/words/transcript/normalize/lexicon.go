package normalize

import (
	"math/big"
	"strings"
)

// A wordClass says what a number word does to the number that is being read.
type wordClass uint8

const (
	classZero       wordClass = iota + 1 // o, oh, zero
	classOne                             // one … nineteen
	classOneEnded                        // firsts, thirds, ones: end the number with a suffix
	classTen                             // twenty … ninety
	classTenEnded                        // twentieth, nineties
	classScale                           // hundred, thousand … decillion
	classScaleEnded                      // hundredth, millions
	classSign                            // minus, plus: before a number
	classCurrency                        // dollars, cents: after a number
	classPercent                         // percent
	classPer                             // per, when cent follows
	classAnd
	classRepeat // double, triple: of the digit that follows
	classPoint
)

// A numberWord is one entry of the lexicon. Only the fields of its class are set.
type numberWord struct {
	class  wordClass
	value  int      // classOne, classOneEnded, classTen, classTenEnded; times for classRepeat
	scale  *big.Int // classScale, classScaleEnded
	suffix string   // what an ended word puts after its digits: s, st, nd, rd, th
	sign   rune     // classSign, classCurrency
}

// lexicon holds every word that the number rules read; any other word ends the number.
var lexicon = buildLexicon()

func buildLexicon() map[string]numberWord {
	m := make(map[string]numberWord, 160)
	for _, w := range []string{"o", "oh", "zero"} {
		m[w] = numberWord{class: classZero}
	}
	addOnes(m)
	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		v, stem := 10*(i+2), strings.TrimSuffix(w, "y")
		m[w] = numberWord{class: classTen, value: v}
		m[stem+"ies"] = numberWord{class: classTenEnded, value: v, suffix: "s"}
		m[stem+"ieth"] = numberWord{class: classTenEnded, value: v, suffix: "th"}
	}
	scale := func(w string, exponent int64) {
		v := new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil)
		m[w] = numberWord{class: classScale, scale: v}
		m[w+"s"] = numberWord{class: classScaleEnded, scale: v, suffix: "s"}
		m[w+"th"] = numberWord{class: classScaleEnded, scale: v, suffix: "th"}
	}
	scale("hundred", 2)
	for i, w := range strings.Fields("thousand million billion trillion quadrillion quintillion " +
		"sextillion septillion octillion nonillion decillion") {
		scale(w, int64(3*(i+1)))
	}
	for w, sign := range map[string]rune{"minus": '-', "negative": '-', "plus": '+', "positive": '+'} {
		m[w] = numberWord{class: classSign, sign: sign}
	}
	for w, sign := range map[string]rune{"pound": '£', "euro": '€', "dollar": '$', "cent": '¢'} {
		m[w] = numberWord{class: classCurrency, sign: sign}
		m[w+"s"] = numberWord{class: classCurrency, sign: sign}
	}
	m["percent"] = numberWord{class: classPercent}
	m["per"] = numberWord{class: classPer}
	m["and"] = numberWord{class: classAnd}
	m["double"] = numberWord{class: classRepeat, value: 2}
	m["triple"] = numberWord{class: classRepeat, value: 3}
	m["point"] = numberWord{class: classPoint}
	return m
}

// addOnes adds one to nineteen, their plurals and their ordinals. The reference's ordinal of nine is "nineth"; "ninth"
// is not a number word there, and so not here.
func addOnes(m map[string]numberWord) {
	irregular := map[int][2]string{1: {"first", "st"}, 2: {"second", "nd"}, 3: {"third", "rd"}, 5: {"fifth", "th"}, 12: {"twelfth", "th"}}
	m["zeroth"] = numberWord{class: classOneEnded, suffix: "th"}
	for i, w := range strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen " +
		"fourteen fifteen sixteen seventeen eighteen nineteen") {
		v := i + 1
		m[w] = numberWord{class: classOne, value: v}
		plural, ordinal, suffix := w+"s", w+"th", "th"
		if w == "six" {
			plural = "sixes"
		}
		if strings.HasSuffix(w, "t") {
			ordinal = w + "h"
		}
		if form, ok := irregular[v]; ok {
			ordinal, suffix = form[0], form[1]
		}
		m[plural] = numberWord{class: classOneEnded, value: v, suffix: "s"}
		m[ordinal] = numberWord{class: classOneEnded, value: v, suffix: suffix}
	}
}

// isDecimalWord reports the words that may follow "point": single digits, teens, tens and zeros.
func isDecimalWord(w string) bool {
	switch lexicon[w].class {
	case classZero, classOne, classTen:
		return true
	}
	return false
}

func hasClass(w string, c wordClass) bool { return lexicon[w].class == c }
