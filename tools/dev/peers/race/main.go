// Command race judges the races of tools/dev/peers by the protocol of coregate bench: eight pairs at least, sides by turns, memory
// beside the times, and no difference below the floor.
//
//	race pairs N                 exits with 2 if N pairs are no comparison; asked before anything runs
//	race state                   prints the machine's state, for a peer to give back as "before"
//	race tables NAME < TABLES    prints tables, {"command", "conditions", "before", "tables": [{"name", "columns", "rows"}]}, whose cells are {"text"},
//	                             {"number"}, {"values"} of a spread or a {"race"} of rounds; with $PEER_REPORTS they are stored there as NAME.json
//	                             (package tools/dev/report)
//	race judge NAME < ROUNDS     reads {"rounds": [{"ours", "theirs", "ours_first"}], "ours_peak_bytes", "theirs_peak_bytes"}, prints what it
//	                             means, and "ratio R" last; with $PEER_REPORTS it leaves NAME.race.json there
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/environment"
)

func main() {
	os.Exit(run(os.Args[1:], os.Getenv("PEER_REPORTS"), os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, reports string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := dispatch(args, reports, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, "race:", err)
		return 2
	}
	return 0
}

func dispatch(args []string, reports string, stdin io.Reader, stdout io.Writer) error {
	p, err := measure.LoadProtocol(measure.DefaultProtocol)
	if err != nil {
		return err
	}
	if len(args) == 2 && args[0] == "pairs" {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return fmt.Errorf("pairs %q: expected a number", args[1])
		}
		return p.CheckPairs(n)
	}
	if len(args) == 1 && args[0] == "state" {
		return state(stdout)
	}
	if len(args) != 2 || args[0] != "judge" && args[0] != "tables" {
		return fmt.Errorf("expected pairs N, state, tables NAME or judge NAME, found %q", args)
	}
	data, err := io.ReadAll(io.LimitReader(stdin, 1<<20))
	if err != nil {
		return err
	}
	if args[0] == "tables" {
		return tables(p, args[1], reports, data, stdout)
	}
	r := &measure.Race{Schema: measure.Schema, Protocol: p.Ref, Name: args[1], Machine: environment.CaptureMachine(environment.Unknown), After: environment.Capture(".", 200*time.Millisecond)}
	if err := json.Unmarshal(data, r); err != nil {
		return fmt.Errorf("rounds: %w", err)
	}
	spread, difference, err := p.JudgeRace(r)
	if err != nil {
		return err
	}
	if reports != "" {
		report, err := strictjson.Canonical(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(reports, filepath.Base(r.Name)+".race.json"), report, 0o644); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(stdout, "%s: %s: %s (%s)\nratio %.2f\n", r.Name, meaning[difference], spread.Show(3, "of theirs"), p.Ref.Name, spread.Median)
	return err
}
