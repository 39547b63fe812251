package candidate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/ab"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// States of a condition.
const (
	Met         = "met"
	MetEmulated = "met, emulated only"
	NotMet      = "not met"
	NotRun      = "not run"
)

// Decisions about the patch.
const (
	Keep   = "keep"
	Delete = "delete"
)

// Condition is one of the four under which the patch may go.
type Condition struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	Evidence string `json:"evidence"`
}

// Question is what a candidate is asked with.
type Question struct {
	// Source is the candidate, Commit its id if it is known.
	Source pin.Source
	Commit string
	// Supported is the pin whose patch is at stake, SupportedManifest its manifest, Patch the patch's bytes.
	Supported         *pin.Pin
	SupportedManifest pin.Manifest
	Patch             []byte
	// Pins are all pins that the build knows: whether the candidate has been made one.
	Pins []*pin.Pin
	// Control repeats the negative control of an unpatched build of the candidate; nil if there is none. ControlRows are
	// those of a control that was made already.
	Control     *ab.Config
	ControlRows []ab.Row
	// Emulated says that the control's program has no Core ML of Apple's.
	Emulated bool
	// NotBuilt says why there was neither control nor evidence, if someone tried.
	NotBuilt string
	// Runs are judged runs of builds of the candidate.
	Runs []Run
}

// Run is a run of a build of the candidate, as it was judged. Package candidate judges no run itself.
type Run struct {
	// Commit is that of the source that the evidence names.
	Commit string
	// CoreML and Contrast say which of the two paths ran; neither for a negative control.
	CoreML, Contrast bool
	// Physical says that Apple's Core ML stood behind it.
	Physical bool
	Verdict  reason.Verdict
}

// name says which run it is.
func (r Run) name() string {
	switch {
	case r.CoreML:
		return "Core ML"
	case r.Contrast:
		return "ordinary"
	}
	return "other"
}

// Answer is what is known about a candidate.
type Answer struct {
	// Decision is about the patch: keep, or delete.
	Decision   string      `json:"decision"`
	Conditions []Condition `json:"conditions"`
	// Batch is nil if the candidate has no src/whisper.cpp.
	Batch *Batch `json:"batch"`
	// Patch says how the patch applies: "exactly", "at an offset of N lines", or "not".
	Patch    string   `json:"patch"`
	Contract []Clause `json:"contract"`
	// Manifest is the candidate's content manifest, of the supported pin's paths that it has; Missing are those it has not.
	Manifest       pin.Manifest `json:"-"`
	ManifestSHA256 string       `json:"manifest_sha256"`
	Missing        []string     `json:"missing"`
	// Places are where the files that were read stand.
	Places Places `json:"places"`
	// Control are the rows of the repeated negative control.
	Control []ab.Row `json:"control"`
	// Reasons say why the candidate would be no pin at all, with the patch or without.
	verdict.Findings
}

// Ask answers a question. An error means that the source could not be read.
func Ask(ctx context.Context, q Question) (*Answer, error) {
	a := &Answer{Findings: verdict.New(), Missing: []string{}, Control: []ab.Row{}, Contract: []Clause{}, Patch: "not"}
	nodes, err := q.Source.Nodes()
	if err != nil {
		return nil, err
	}
	a.Places = locate(nodes)
	if _, ok := a.Places[whispercpp.LibrarySource]; !ok {
		found := fmt.Sprintf("%d files, and none of these: %s", len(nodes), a.Places.absent())
		if len(nodes) == 0 {
			found = "nothing: it is empty"
		}
		a.Add(reason.CandidateNoSource, "source", whispercpp.LibrarySource, found)
	} else {
		a.Contract = Contract(q.Source, a.Places)
		if err := a.manifest(q, nodes); err != nil {
			return nil, err
		}
		if err := a.source(q); err != nil {
			return nil, err
		}
	}
	control, err := a.control(ctx, q)
	if err != nil {
		return nil, err
	}
	a.Conditions = []Condition{a.safe(), control, positivePaths(q), migrated(q)}
	a.Decision = Delete
	for _, c := range a.Conditions {
		if c.State != Met {
			a.Decision = Keep
		}
	}
	return a, nil
}

// manifest hashes those of the supported pin's paths that the candidate has.
func (a *Answer) manifest(q Question, nodes []pin.Node) error {
	has := map[string]bool{}
	for _, n := range nodes {
		has[n.Path] = true
	}
	var paths []string
	for _, path := range q.SupportedManifest.Paths() {
		if has[path] {
			paths = append(paths, path)
		} else {
			a.Missing = append(a.Missing, path)
		}
	}
	if len(paths) > 0 {
		var err error
		if a.Manifest, err = pin.MakeManifest(q.Source, paths); err != nil {
			return err
		}
	}
	a.ManifestSHA256 = a.Manifest.Digest()
	if moved := a.Places.moved(); moved != "" {
		a.Add(reason.CandidateLayout, "source", "the layout of pin "+q.Supported.Name, moved)
	}
	if len(a.Missing) > 0 {
		a.Add(reason.CandidateFiles, "source", "the files of pin "+q.Supported.Name, fmt.Sprintf("%d missing: %s", len(a.Missing), strings.Join(a.Missing[:min(5, len(a.Missing))], ", ")))
	}
	a.contract()
	return nil
}

// contract gives one reason for each file that lost clauses.
func (a *Answer) contract() {
	var files []string
	lost := map[string][]string{}
	for _, c := range a.Contract {
		if c.Kept {
			continue
		}
		if lost[c.File] == nil {
			files = append(files, c.File)
		}
		lost[c.File] = append(lost[c.File], c.Name)
	}
	for _, file := range files {
		where := file
		if at, ok := a.Places[file]; ok {
			where = at
		}
		a.Add(reason.CandidateContract, where, "every clause of the contract kept", "changed or absent: "+strings.Join(lost[file], "; "))
	}
}

// source reads the patched file: the batch, and how the patch applies.
func (a *Answer) source(q Question) error {
	patch, err := pin.PinnedPatch(q.Supported, q.Patch)
	if err != nil {
		return err
	}
	text, err := q.Source.Read(a.Places[whispercpp.LibrarySource])
	if err != nil {
		return err
	}
	a.Batch = Analyse(text)
	if a.Batch.Unread != "" {
		a.Add(reason.CandidateUnread, a.Places[whispercpp.LibrarySource], "a form that is known", a.Batch.Unread)
	}
	if a.Places[whispercpp.LibrarySource] != patch.Path {
		a.Patch = "not (it is for " + patch.Path + ")"
	} else if _, err := patch.Apply(text); err == nil {
		a.Patch = "exactly"
	} else if off, ok := patch.Offset(text); ok {
		a.Patch = fmt.Sprintf("at an offset of %d lines", off)
	}
	applied := applyError(patch, text)
	if applied != nil && applied.Code == reason.SourceLineEnds {
		a.AddReason(applied.Reason) // the revision may be the patch's own
		return nil
	}
	// Of what was not understood it is unknown whether it needs the patch.
	if a.Patch != "exactly" && a.Batch.Unsafe() > 0 && a.Batch.Unread == "" {
		a.Add(reason.CandidatePatch, a.Places[whispercpp.LibrarySource], "the patch applies exactly, or no early return needs it",
			fmt.Sprintf("%d unsafe returns, and it applies %s", a.Batch.Unsafe(), a.Patch))
	}
	return nil
}

// applyError is the reason for which the patch does not apply, or nil.
func applyError(p *pin.Patch, text []byte) *reason.Error {
	_, err := p.Apply(text)
	var found *reason.Error
	errors.As(err, &found)
	return found
}

// safe is the first condition: every early return, from the source.
func (a *Answer) safe() Condition {
	c := Condition{Name: "the source initialises the batch safely on every early return", State: NotMet}
	switch {
	case a.Batch == nil:
		c.Evidence = "there is no " + whispercpp.LibrarySource + ", nor " + whispercpp.EarlierSources[whispercpp.LibrarySource]
	case a.Batch.Unread != "":
		c.Evidence = "not understood: " + a.Batch.Unread
	case a.Batch.Safe():
		c.State = Met
		c.Evidence = fmt.Sprintf("%d returns before the batch is assigned, none of which frees it", len(a.Batch.Returns))
		if a.Batch.How != "nothing" {
			c.Evidence = fmt.Sprintf("%d returns before the batch is assigned, none unsafe; initialised by %s", len(a.Batch.Returns), a.Batch.How)
		}
	default:
		var lines []string
		for _, r := range a.Batch.Returns {
			if !r.Safe {
				lines = append(lines, fmt.Sprint(r.Line))
			}
		}
		c.Evidence = fmt.Sprintf("`%s` at line %d; %d unsafe returns, at lines %s", a.Batch.Declaration, a.Batch.Line, len(lines), strings.Join(lines, ", "))
	}
	return c
}

// control is the second condition: the repeated negative control of the unpatched candidate.
func (a *Answer) control(ctx context.Context, q Question) (Condition, error) {
	c := Condition{Name: "the unpatched candidate passes the repeated negative control", State: NotRun, Evidence: "no unpatched whisper-cli of the candidate was given"}
	if q.NotBuilt != "" {
		c.Evidence = "not built: " + q.NotBuilt
	}
	rows := q.ControlRows
	switch {
	case len(rows) > 0:
	case q.Control == nil:
		return c, nil
	default:
		var err error
		if rows, err = ab.Control(ctx, *q.Control); err != nil {
			return c, err
		}
	}
	a.Control = rows
	var runs, clean int
	for _, row := range rows {
		runs, clean = runs+row.N, clean+row.Clean
	}
	low, _ := ab.Wilson(clean, runs)
	c.Evidence = fmt.Sprintf("%d clean refusals of %d under %d heap settings (true rate above %.1f %%, 95 %%)", clean, runs, len(rows), 100*low)
	c.State = NotMet
	if clean == runs {
		c.State = metOn(runtime.GOOS == "darwin" && !q.Emulated)
	}
	return c, nil
}

func metOn(physical bool) string {
	if physical {
		return Met
	}
	return MetEmulated
}

// positivePaths is the third condition: a judged pass of ggml's path and of Core ML's.
func positivePaths(q Question) Condition {
	c := Condition{Name: "the ordinary ggml path and the Core ML path still pass", State: NotRun, Evidence: "no evidence of the candidate was given"}
	if q.NotBuilt != "" {
		c.Evidence = "not built: " + q.NotBuilt
	}
	var coreml, contrast bool
	physical := true
	for _, r := range q.Runs {
		if q.Commit == "" || r.Commit != q.Commit {
			c.State, c.Evidence = NotMet, fmt.Sprintf("evidence of commit %s, expected %q", r.Commit, q.Commit)
			return c
		}
		if r.Verdict != reason.Pass {
			c.State, c.Evidence = NotMet, fmt.Sprintf("the %s run: %s", r.name(), r.Verdict)
			return c
		}
		coreml, contrast = coreml || r.CoreML, contrast || r.Contrast
		physical = physical && r.Physical
	}
	switch {
	case coreml && contrast:
		c.State, c.Evidence = metOn(physical), fmt.Sprintf("%d judged runs", len(q.Runs))
	case len(q.Runs) > 0:
		c.Evidence = "expected a Core ML run and an ordinary one"
	}
	return c
}

// migrated is the fourth condition: someone has made the candidate a pin, on purpose.
func migrated(q Question) Condition {
	c := Condition{Name: "manifests and cache identity are migrated deliberately", State: NotMet, Evidence: "no pin names this commit"}
	for _, p := range q.Pins {
		if q.Commit != "" && p.Commit == q.Commit {
			if p.Supported {
				return Condition{Name: c.Name, State: Met, Evidence: "the supported pin " + p.Name}
			}
			c.Evidence = "pin " + p.Name + " is not the supported one"
		}
	}
	return c
}
