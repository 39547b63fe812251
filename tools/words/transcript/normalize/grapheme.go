package normalize

import (
	"unicode"
	"unicode/utf8"
)

// A breakClass is the Grapheme_Cluster_Break property (UAX #29, table 2), as far as it can occur in text whose
// symbols were removed: emoji sequences are symbols and Indic conjuncts need marks, so neither has a rule here.
type breakClass uint8

const (
	breakOther breakClass = iota
	breakCR
	breakLF
	breakControl
	breakExtend // Extend and ZWJ
	breakSpacingMark
	breakPrepend
	breakRegional
	breakL
	breakV
	breakT
	breakLV
	breakLVT
)

// graphemes splits s into extended grapheme clusters.
func graphemes(s string) []string {
	clusters := make([]string, 0, utf8.RuneCountInString(s))
	start, flags := 0, 0
	var before breakClass
	for i, r := range s {
		class := breakClassOf(r)
		if i > 0 && !joins(before, class, flags) {
			clusters = append(clusters, s[start:i])
			start = i
		}
		if class == breakRegional {
			flags++
		} else {
			flags = 0
		}
		before = class
	}
	if start < len(s) {
		clusters = append(clusters, s[start:])
	}
	return clusters
}

// joins says whether no break lies between two classes; flags counts the regional indicators just before.
func joins(a, b breakClass, flags int) bool {
	switch {
	case a == breakCR && b == breakLF: // GB3
		return true
	case a == breakCR, a == breakLF, a == breakControl, b == breakCR, b == breakLF, b == breakControl: // GB4, GB5
		return false
	case b == breakExtend, b == breakSpacingMark, a == breakPrepend: // GB9, GB9a, GB9b
		return true
	case a == breakL: // GB6
		return b == breakL || b == breakV || b == breakLV || b == breakLVT
	case a == breakLV, a == breakV: // GB7
		return b == breakV || b == breakT
	case a == breakLVT, a == breakT: // GB8
		return b == breakT
	case a == breakRegional && b == breakRegional: // GB12, GB13
		return flags%2 == 1
	}
	return false
}

const zeroWidthJoiner = '\u200d'

func breakClassOf(r rune) breakClass {
	switch {
	case r == '\r':
		return breakCR
	case r == '\n':
		return breakLF
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return breakControl
	case r < 0x300:
		if r == 0xad {
			return breakControl
		}
		return breakOther
	case r == zeroWidthJoiner, unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend):
		return breakExtend
	case unicode.Is(prepended, r):
		return breakPrepend
	case unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cc, unicode.Cf):
		return breakControl
	case unicode.Is(unicode.Regional_Indicator, r):
		return breakRegional
	case r == 0x0e33, r == 0x0eb3, unicode.Is(unicode.Mc, r) && !unicode.Is(nonSpacing, r):
		return breakSpacingMark
	}
	return hangulClass(r)
}

func hangulClass(r rune) breakClass {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0xa960 && r <= 0xa97c:
		return breakL
	case r >= 0x1160 && r <= 0x11a7, r >= 0xd7b0 && r <= 0xd7c6:
		return breakV
	case r >= 0x11a8 && r <= 0x11ff, r >= 0xd7cb && r <= 0xd7fb:
		return breakT
	case r >= 0xac00 && r <= 0xd7a3:
		if (r-0xac00)%28 == 0 {
			return breakLV
		}
		return breakLVT
	}
	return breakOther
}

// prepended is Grapheme_Cluster_Break=Prepend (Unicode 17, as far as it is assigned in Go's tables).
var prepended = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0600, Hi: 0x0605, Stride: 1}, {Lo: 0x06dd, Hi: 0x06dd, Stride: 1}, {Lo: 0x070f, Hi: 0x070f, Stride: 1},
		{Lo: 0x0890, Hi: 0x0891, Stride: 1}, {Lo: 0x08e2, Hi: 0x08e2, Stride: 1}, {Lo: 0x0d4e, Hi: 0x0d4e, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x110bd, Hi: 0x110bd, Stride: 1}, {Lo: 0x110cd, Hi: 0x110cd, Stride: 1}, {Lo: 0x111c2, Hi: 0x111c3, Stride: 1},
		{Lo: 0x1193f, Hi: 0x1193f, Stride: 1}, {Lo: 0x11941, Hi: 0x11941, Stride: 1},
		{Lo: 0x11a84, Hi: 0x11a89, Stride: 1}, {Lo: 0x11d46, Hi: 0x11d46, Stride: 1}, {Lo: 0x11f02, Hi: 0x11f02, Stride: 1},
	},
}

// nonSpacing are the marks of category Mc that are not Grapheme_Cluster_Break=SpacingMark.
var nonSpacing = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x102b, Hi: 0x102c, Stride: 1}, {Lo: 0x1038, Hi: 0x1038, Stride: 1}, {Lo: 0x1062, Hi: 0x1064, Stride: 1},
		{Lo: 0x1067, Hi: 0x106d, Stride: 1}, {Lo: 0x1083, Hi: 0x1083, Stride: 1}, {Lo: 0x1087, Hi: 0x108c, Stride: 1},
		{Lo: 0x108f, Hi: 0x108f, Stride: 1}, {Lo: 0x109a, Hi: 0x109c, Stride: 1}, {Lo: 0x1a61, Hi: 0x1a61, Stride: 1},
		{Lo: 0x1a63, Hi: 0x1a64, Stride: 1}, {Lo: 0xaa7b, Hi: 0xaa7b, Stride: 1}, {Lo: 0xaa7d, Hi: 0xaa7d, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x11720, Hi: 0x11721, Stride: 1}},
}
