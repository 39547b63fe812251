// Command werours answers the questions of the peers wer and wer-speed with this project's own code.
//
//	werours rows    reads JSON lines {"mode","ref","hyp"}, writes normalised text, counts and chunks
//	werours speed   reads JSON objects {"ref":[…],"hyp":[…],"times":n}, writes nanoseconds for each of n distances and
//	                alignments, an object a line
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/normalize"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	commands := map[string]func(io.Reader, *bufio.Writer) error{"rows": rows, "speed": speed}
	if len(args) != 1 || commands[args[0]] == nil {
		fmt.Fprintln(stderr, "usage: werours rows|speed <input >output")
		return 2
	}
	out := bufio.NewWriter(stdout)
	err := commands[args[0]](stdin, out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintf(stderr, "werours %s: %v\n", args[0], err)
		return 2
	}
	return 0
}

type question struct {
	Mode string // english, basic, diacritics, split, split-diacritics
	Ref  string
	Hyp  string
}

type answer struct {
	Ref   string
	Hyp   string
	Words measure
	Chars measure
}

type measure struct {
	Rate    float64
	Counts  editdist.Counts
	Aligned [][5]any
}

var normalizers = map[string]func(string) string{
	"english":          normalize.English,
	"basic":            normalize.Basic{}.Normalize,
	"diacritics":       normalize.Basic{RemoveDiacritics: true}.Normalize,
	"split":            normalize.Basic{SplitLetters: true}.Normalize,
	"split-diacritics": normalize.Basic{SplitLetters: true, RemoveDiacritics: true}.Normalize,
}

func rows(r io.Reader, w *bufio.Writer) error {
	dec, enc := json.NewDecoder(r), json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for {
		var q question
		if err := dec.Decode(&q); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a row: %w", err)
		}
		norm, ok := normalizers[q.Mode]
		if !ok {
			return fmt.Errorf("unknown mode %q", q.Mode)
		}
		a := answer{Ref: norm(q.Ref), Hyp: norm(q.Hyp)}
		a.Words = measured(transcript.WordErrors(a.Ref, a.Hyp))
		a.Chars = measured(transcript.CharacterErrors(a.Ref, a.Hyp))
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
}

func measured(c editdist.Counts, chunks []editdist.Chunk) measure {
	m := measure{Rate: transcript.Rate(c), Counts: c, Aligned: [][5]any{}}
	for _, k := range chunks {
		m.Aligned = append(m.Aligned, [5]any{k.Op.String(), k.RefStart, k.RefEnd, k.HypStart, k.HypEnd})
	}
	return m
}

func speed(r io.Reader, w *bufio.Writer) error {
	dec, enc := json.NewDecoder(r), json.NewEncoder(w)
	for {
		var q race
		if err := dec.Decode(&q); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a pair: %w", err)
		}
		result, err := q.run()
		if err != nil {
			return err
		}
		if err := enc.Encode(result); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

type race struct {
	Ref, Hyp []string
	Times    int
}

type raced struct {
	Distance, Align []int64
	Edits           int
}

func (q race) run() (raced, error) {
	var result raced
	for range q.Times {
		start := time.Now()
		d := editdist.Distance(q.Ref, q.Hyp)
		result.Distance = append(result.Distance, time.Since(start).Nanoseconds())
		start = time.Now()
		chunks := editdist.Align(q.Ref, q.Hyp)
		result.Align = append(result.Align, time.Since(start).Nanoseconds())
		if result.Edits = editdist.Count(chunks).Edits(); result.Edits != d {
			return raced{}, fmt.Errorf("distance %d, but the alignment has %d edits", d, result.Edits)
		}
	}
	return result, nil
}
