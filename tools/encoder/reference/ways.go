package reference

import "fmt"

// Way is how an evaluation goes through values: one by one, or in registers of 256 or of 512 bits. Every way gives the same bytes.
type Way struct {
	Name  string
	width int
}

var everyWay = []Way{{"single values", 1}, {"256 bits", 4}, {"512 bits", 8}}

// Ways are those that this processor has, the narrowest first. An evaluation takes the last of them.
func Ways() []Way {
	var out []Way
	for _, w := range everyWay {
		if w.width <= widest {
			out = append(out, w)
		}
	}
	return out
}

// Use has every evaluation from now on take the way, for who measures or compares them, and gives back the one before. It must not be
// called while one runs.
func (w Way) Use() (before Way, err error) {
	if w.width < 1 || w.width > widest {
		return before, fmt.Errorf("way %q: expected one of this processor's, %v", w.Name, Ways())
	}
	for _, b := range everyWay {
		if b.width == width {
			before = b
		}
	}
	width = w.width
	return before, nil
}
