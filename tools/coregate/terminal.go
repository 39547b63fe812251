package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// isTerminal says whether a person reads what is written there.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// wantsColour is whether a terminal is written to in colour: NO_COLOR with any value turns them off (no-color.org), and so does
// a terminal that has none.
func wantsColour(w io.Writer, getenv func(string) string) bool {
	return isTerminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// output is standard output or standard error. It remembers that a write failed: a table is printed without looking, and a
// pass that nobody could read is none.
type output struct {
	io.Writer
	failed error
	// begun says that something was written.
	begun bool
	// colour says that verdicts and codes are painted.
	colour bool
	screen *screen
}

func (o *output) Write(p []byte) (int, error) {
	o.screen.Lock()
	defer o.screen.Unlock()
	o.screen.clear()
	if o.screen.closed {
		return len(p), nil
	}
	o.begun = true
	n, err := o.Writer.Write(p)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// screen is what standard output and standard error share where both are one terminal: the line that says how long a
// command has been at work, which goes before anything else is written.
type screen struct {
	sync.Mutex
	w     io.Writer
	shown bool
	// step says what is done so far, if the command knows.
	step string
	// closed drops what a command writes that was ended and does not know yet.
	closed bool
}

func (s *screen) clear() {
	if s.shown {
		_, _ = io.WriteString(s.w, "\r\x1b[K")
		s.shown = false
	}
}

func (s *screen) show(line string) {
	s.Lock()
	defer s.Unlock()
	if s.closed {
		return
	}
	s.clear()
	if _, err := io.WriteString(s.w, line); err == nil {
		s.shown = true
	}
}

func (s *screen) close() {
	s.Lock()
	defer s.Unlock()
	s.clear()
	s.closed = true
}

// patience is how long a command may take before it says that it is at work.
const patience = 2 * time.Second

// progress shows how long a command has been at work, each second after patience is over, until the context ends.
func (s *screen) progress(ctx context.Context, name string) {
	begun := time.Now()
	tick := time.NewTimer(patience)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.show(s.line(name, time.Since(begun)))
			tick.Reset(time.Second)
		}
	}
}

func (s *screen) line(name string, since time.Duration) string {
	s.Lock()
	defer s.Unlock()
	step := s.step
	if step != "" {
		step = ", " + step
	}
	return fmt.Sprintf("%s: at work for %s%s (Ctrl-C stops it)", name, since.Round(time.Second), step)
}

// counting is what a command tells how many of its runs are done.
func counting(stderr io.Writer, what string) func(done, total int) {
	return func(done, total int) {
		if o, ok := stderr.(*output); ok {
			o.screen.Lock()
			defer o.screen.Unlock()
			o.screen.step = fmt.Sprintf("%d of %d %s", done, total, what)
		}
	}
}

// The colours, as terminals know them.
const (
	bold   = "1"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
)

// paint colours a text where w is a terminal that wants it.
func paint(w io.Writer, colour, text string) string {
	if o, ok := w.(*output); !ok || !o.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// paintVerdict colours a verdict, or a text that says it in other words.
func paintVerdict(w io.Writer, v reason.Verdict, text string) string {
	switch v {
	case reason.Pass:
		return paint(w, green, text)
	case reason.Unknown, reason.Inadmissible:
		return paint(w, yellow, text)
	}
	return paint(w, red, text)
}

// paintFirst colours the first of a word in lines that are laid out already: a colour has no width, which a layout
// would count.
func paintFirst(w io.Writer, colour, lines, word string) string {
	return strings.Replace(lines, word, paint(w, colour, word), 1)
}
