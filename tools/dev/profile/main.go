// Command profile prints where a Bazel command's time went, by the actions' mnemonics, from the profile that Bazel writes
// for every command. From the repository's root, after a build:
//
//	go run ./tools/dev/profile [--report FILE.json] [PROFILE.gz]
//
// Without an argument it takes the profile of the last command. Seconds are those of an action itself, without its wait for
// processors; several run at once, so their sum may be more than the time of the command.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("profile", flag.ContinueOnError)
	to := flags.String("report", "", "file for the table as a stored report")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 1 {
		return fmt.Errorf("expected one profile at most, found %q", flags.Args())
	}
	path := ""
	if flags.NArg() == 1 {
		path = flags.Arg(0)
	} else {
		base, err := exec.Command("bazel", "info", "output_base").Output()
		if err != nil {
			return fmt.Errorf("bazel info output_base: %w", err)
		}
		path = filepath.Join(strings.TrimSpace(string(base)), "command.profile.gz")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	w, err := report.Begin(*to, "profile", "go run ./tools/dev/profile", out)
	if err != nil {
		return err
	}
	if err := t.print(w); err != nil {
		return err
	}
	return w.End("")
}

// event is what is used of a line of Chrome's trace format; times are in microseconds.
type event struct {
	Category string          `json:"cat"`
	Name     string          `json:"name"`
	Start    int64           `json:"ts"`
	Duration int64           `json:"dur"`
	Thread   int64           `json:"tid"`
	Args     json.RawMessage `json:"args"`
}

func (e event) mnemonic() string {
	var a struct{ Mnemonic string }
	_ = json.Unmarshal(e.Args, &a) // other events have other arguments
	return a.Mnemonic
}

// line is one mnemonic's.
type line struct {
	mnemonic         string
	actions, fetched int
	work, wait       int64
	longest          event
}

type table struct {
	lines []line
	wall  int64
}

// Bazel's names of the categories that are looked at.
const (
	actionCategory = "action processing"
	waitCategory   = "action resource lock"
	fetchCategory  = "remote output download" // a folder as cache counts as remote too
)

// read takes a profile, compressed or not.
func read(r io.Reader) (*table, error) {
	b := bufio.NewReader(r)
	if head, err := b.Peek(2); err == nil && bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		b = bufio.NewReader(z)
	}
	var profile struct {
		Events []event `json:"traceEvents"`
	}
	if err := json.NewDecoder(b).Decode(&profile); err != nil {
		return nil, fmt.Errorf("expected a whole profile of an ended command: %w", err)
	}
	return summarise(profile.Events)
}

func summarise(events []event) (*table, error) {
	// What lies within an action is on its thread, between its start and its end.
	within := map[int64][]event{}
	t := &table{}
	for _, e := range events {
		t.wall = max(t.wall, e.Start+e.Duration)
		if e.Category == waitCategory || e.Category == fetchCategory {
			within[e.Thread] = append(within[e.Thread], e)
		}
	}
	of := map[string]*line{}
	for _, e := range events {
		if e.Category != actionCategory {
			continue
		}
		m := cmp.Or(e.mnemonic(), "(none)")
		if of[m] == nil {
			of[m] = &line{mnemonic: m}
		}
		l := of[m]
		l.actions++
		work, fetched := e.Duration, 0
		for _, x := range within[e.Thread] {
			if x.Start < e.Start || x.Start+x.Duration > e.Start+e.Duration {
				continue
			}
			if x.Category == fetchCategory {
				fetched = 1 // each of its outputs is fetched for itself
			} else {
				work -= x.Duration
				l.wait += x.Duration
			}
		}
		l.work += work
		l.fetched += fetched
		if work >= l.longest.Duration {
			l.longest = event{Name: e.Name, Duration: work}
		}
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("no event of category %q: expected the profile of a build", actionCategory)
	}
	for _, l := range of {
		t.lines = append(t.lines, *l)
	}
	slices.SortFunc(t.lines, func(a, b line) int { return cmp.Or(cmp.Compare(b.work, a.work), cmp.Compare(a.mnemonic, b.mnemonic)) })
	return t, nil
}

func (t *table) print(w *report.Writer) error {
	number := func(name, unit string, decimals int) report.Column {
		return report.Column{Name: name, Kind: report.Number, Unit: unit, Decimals: decimals}
	}
	err := w.Begin("mnemonics", report.Column{Name: "mnemonic", Kind: report.Text}, number("actions", "", 0), number("of them from a cache", "", 0), number("work", "s", 1), number("waited", "s", 1),
		number("longest", "s", 1), report.Column{Name: "which", Kind: report.Text})
	seconds := func(us int64) report.Cell { return report.N(float64(us) / 1e6) }
	row := func(l line, longest int64, which string) {
		if err == nil {
			err = w.Row(report.T(l.mnemonic), report.N(float64(l.actions)), report.N(float64(l.fetched)), seconds(l.work), seconds(l.wait), seconds(longest), report.T(which))
		}
	}
	sum := line{mnemonic: "all"}
	for _, l := range t.lines {
		row(l, l.longest.Duration, strings.NewReplacer("|", "/", "\n", " ", "\r", " ").Replace(l.longest.Name))
		sum.actions, sum.fetched, sum.work, sum.wait = sum.actions+l.actions, sum.fetched+l.fetched, sum.work+l.work, sum.wait+l.wait
	}
	row(sum, t.wall, "the whole command")
	return err
}
