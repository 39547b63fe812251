package transcript

// A Loop is a phrase that is repeated without a break, the sign of a decoder that is stuck.
type Loop struct {
	// Start is the index of the first unit, Period the phrase's length in units, Repeats how often it occurs in full.
	Start   int `json:"start"`
	Period  int `json:"period"`
	Repeats int `json:"repeats"`
}

// What makes a repetition a loop: people say "no, no, no" and sing a line three times, decoders fill a window.
const (
	loopRepeats   = 4  // at least so many times in full
	loopUnits     = 12 // and so many units in all
	loopMaxPeriod = 64 // phrases up to this length are looked for
)

// Loops finds the repetition loops of a text, each under its shortest period, in order and without overlap.
func Loops(units []string) []Loop {
	var loops []Loop
	for i := 0; i < len(units); {
		best, length := Loop{}, 0
		for period := 1; period <= loopMaxPeriod && i+loopRepeats*period <= len(units); period++ {
			n := period
			for i+n < len(units) && units[i+n] == units[i+n-period] {
				n++
			}
			// A longer period counts only where the shorter one ends early.
			if n/period >= loopRepeats && n >= loopUnits && n > length {
				best, length = Loop{Start: i, Period: period, Repeats: n / period}, n
			}
		}
		if length == 0 {
			i++
			continue
		}
		loops = append(loops, best)
		i += length
	}
	return loops
}

// loopUnitsIn is the number of units that repeat what was said already: all but the first phrase of each loop.
func loopUnitsIn(loops []Loop) int {
	n := 0
	for _, l := range loops {
		n += (l.Repeats - 1) * l.Period
	}
	return n
}
