package normalize

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

// English standardises an English transcript; see the package comment for the steps.
func English(s string) string {
	s = dropBracketed(lower(strings.ToValidUTF8(s, "\ufffd")))
	s = dropFillers(s)
	s = closeUpApostrophes(s)
	for _, e := range expansions {
		s = e.apply(s)
	}
	s = dropDigitCommas(s)
	s = dropLooseStops(s)
	s = removeSymbolsAndDiacritics(s, numberSigns)
	s = standardizeNumbers(s)
	s = standardizeSpellings(s)
	s = dropLooseSigns(s)
	return collapseSpace(s)
}

// numberSigns stay through the removal of symbols, because the number rules read them.
const numberSigns = ".%$¢€£"

var fillers = map[string]bool{"hmm": true, "mm": true, "mhm": true, "mmm": true, "uh": true, "um": true}

// dropFillers removes hesitations that are whole words.
func dropFillers(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		j := i
		for j < len(s) {
			r, n := utf8.DecodeRuneInString(s[j:])
			if !isWord(r) {
				break
			}
			j += n
		}
		if j == i {
			_, n := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		if !fillers[s[i:j]] {
			b.WriteString(s[i:j])
		}
		i = j
	}
	return b.String()
}

// closeUpApostrophes removes white space before an apostrophe.
func closeUpApostrophes(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		j := skipSpace(s, i)
		if j > i {
			if j == len(s) || s[j] != '\'' {
				b.WriteString(s[i:j])
			}
			i = j
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(s[i : i+n])
		i += n
	}
	return b.String()
}

// An expansion replaces a literal that ends at a word boundary and, where atWord is set, begins at one.
type expansion struct {
	from, to string
	atWord   bool
}

func (e expansion) apply(s string) string {
	at := strings.Index(s, e.from)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	done, next := 0, 0
	for at >= 0 {
		i := next + at
		end := i + len(e.from)
		// The literal's own ends are word characters wherever a boundary is asked for.
		if (e.atWord && wordBefore(s, i)) || wordAfter(s, end) {
			next = i + 1
		} else {
			b.WriteString(s[done:i])
			b.WriteString(e.to)
			done, next = end, end
		}
		at = strings.Index(s[next:], e.from)
	}
	b.WriteString(s[done:])
	return b.String()
}

// expansions apply in this order: each sees what those before it wrote, and the specific ones stand before the
// general ones ("won't" before "n't", "'s got" before "'s").
var expansions = buildExpansions()

func buildExpansions() []expansion {
	var all []expansion
	add := func(atWord bool, suffix string, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, expansion{from: pairs[i], to: pairs[i+1] + suffix, atWord: atWord})
		}
	}
	add(true, "",
		"won't", "will not", "can't", "can not", "let's", "let us", "ain't", "aint", "y'all", "you all",
		"wanna", "want to", "kinda", "kind of", "sorta", "sort of", "dunno", "do not know",
		"gotta", "got to", "gonna", "going to", "i'ma", "i am going to", "imma", "i am going to",
		"woulda", "would have", "coulda", "could have", "shoulda", "should have",
		"cause", "because", "ma'am", "madam")
	add(true, " ",
		"mr", "mister", "mrs", "missus", "st", "saint", "dr", "doctor", "prof", "professor", "capt", "captain",
		"gov", "governor", "ald", "alderman", "gen", "general", "sen", "senator", "rep", "representative",
		"pres", "president", "rev", "reverend", "hon", "honorable", "asst", "assistant", "assoc", "associate",
		"lt", "lieutenant", "col", "colonel", "jr", "junior", "sr", "senior", "esq", "esquire")
	add(false, "",
		"'d been", " had been", "'s been", " has been", "'d gone", " had gone", "'s gone", " has gone",
		"'d done", " had done", "'s got", " has got")
	add(false, "",
		"n't", " not", "'re", " are", "'s", " is", "'d", " would", "'ll", " will", "'t", " not",
		"'ve", " have", "'m", " am")
	return all
}

// dropDigitCommas removes a comma between two digits. The digit after it is spent: in "1,2,3" the second comma stays.
func dropDigitCommas(s string) string {
	if !strings.Contains(s, ",") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(s[i : i+n])
		i += n
		if isDigit(r) && i < len(s) && s[i] == ',' {
			if after, m := utf8.DecodeRuneInString(s[i+1:]); m > 0 && isDigit(after) {
				b.WriteString(s[i+1 : i+1+m])
				i += 1 + m
			}
		}
	}
	return b.String()
}

// dropLooseStops replaces a full stop that no ASCII digit follows by a space. What follows it is spent.
func dropLooseStops(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] != '.' || (i+1 < len(s) && isASCIIDigit(rune(s[i+1]))) {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteByte(' ')
		i++
		_, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(s[i : i+n])
		i += n
	}
	return b.String()
}

// dropLooseSigns replaces number signs that no digit follows, and per cent signs that no digit precedes, by spaces.
func dropLooseSigns(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if !strings.ContainsRune(".$¢€£", r) || i == len(s) || isASCIIDigit(rune(s[i])) {
			b.WriteRune(r)
			continue
		}
		_, n = utf8.DecodeRuneInString(s[i:])
		b.WriteByte(' ')
		b.WriteString(s[i : i+n])
		i += n
	}
	s = b.String()
	b = strings.Builder{}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += n
		if !isASCIIDigit(r) && i < len(s) && s[i] == '%' {
			b.WriteByte(' ')
			i++
		}
	}
	return b.String()
}

// spellingTable maps British to American spellings, a pair a line after its '#' comments (source and licence there).
//
//go:embed spellings.txt
var spellingTable string

var spellings = sync.OnceValue(func() map[string]string {
	m := make(map[string]string, 2048)
	for line := range strings.Lines(spellingTable) {
		if british, american, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && line[0] != '#' {
			m[british] = american
		}
	}
	return m
})

func standardizeSpellings(s string) string {
	table := spellings()
	words := strings.FieldsFunc(s, isSpace)
	for i, w := range words {
		if american, ok := table[w]; ok {
			words[i] = american
		}
	}
	return strings.Join(words, " ")
}
