// Command flow draws docs/flow.svg, the picture of docs/how.md.
//
//	go run ./tools/dev/flow > docs/flow.svg
//
// A test compares the file with what is drawn.
package main

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"
)

func main() {
	if _, err := io.WriteString(os.Stdout, draw(steps, arrows)); err != nil {
		fmt.Fprintln(os.Stderr, "flow:", err)
		os.Exit(2)
	}
}

// box is a step of the flow, at a column and row of the picture's grid.
type box struct {
	name          string
	column, row   int
	title, detail string
	kind          string // given, made or checked
}

// arrow leads from one box to another.
type arrow struct{ from, to string }

var steps = []box{
	{"pin", 0, 0, "pin", "each upstream file's SHA-256", "given"},
	{"patch", 1, 0, "patch", "one line, by SHA-256", "given"},
	{"audio", 2, 0, "recording", "and a person's text", "given"},
	{"model", 3, 0, "model and encoder", ".bin and .mlmodelc", "given"},

	{"sources", 0, 1, "verified sources", "checked, then patched", "checked"},
	{"programs", 0, 2, "whisper-cli", "one for each flavour", "made"},

	{"positive", 0, 3, "positive run", "with its encoder", "made"},
	{"canary", 1, 3, "canary", "without it: must refuse", "made"},
	{"contrast", 2, 3, "contrast run", "ggml's own encoder", "made"},
	{"contract", 3, 3, "contract, parity", "weights and numbers", "checked"},

	{"evidence", 1, 4, "evidence", "what happened, no opinion", "made"},
	{"judgements", 1, 5, "judgements", "by frozen policies", "checked"},

	{"tests", 0, 6, "tests", "red or green", "made"},
	{"receipt", 1, 6, "receipt", "all of it, by digest", "made"},
	{"verify", 2, 6, "sign, verify, audit", "anywhere, later", "checked"},
}

var arrows = []arrow{
	{"pin", "sources"}, {"patch", "sources"}, {"sources", "programs"},
	{"programs", "positive"}, {"programs", "canary"}, {"programs", "contrast"},
	{"audio", "contrast"}, {"model", "contrast"}, {"model", "contract"},
	{"positive", "evidence"}, {"canary", "evidence"}, {"contrast", "evidence"},
	{"evidence", "judgements"}, {"contract", "judgements"},
	{"judgements", "tests"}, {"judgements", "receipt"}, {"receipt", "verify"},
}

// The grid, in pixels.
const (
	columns = 4
	width   = 190
	height  = 52
	gapX    = 24
	gapY    = 34
	margin  = 12
)

func (b box) left() int   { return margin + b.column*(width+gapX) }
func (b box) top() int    { return margin + b.row*(height+gapY) }
func (b box) middle() int { return b.left() + width/2 }

const style = `text{font-family:system-ui,sans-serif;fill:#1b1d21}.title{font-size:15px;font-weight:600}.detail{font-size:11px}` +
	`rect{stroke-width:1.5}.given{fill:#f2f3f5;stroke:#8a919c}.made{fill:#e8f0fb;stroke:#2f6fbf}.checked{fill:#e6f4ec;stroke:#1a7f4b}` +
	`path{fill:none;stroke:#5a616b;stroke-width:1.3}.paper{fill:#fff;stroke:none}`

// draw is the picture as SVG.
func draw(boxes []box, arrows []arrow) string {
	byName := map[string]box{}
	rows := 0
	for _, b := range boxes {
		byName[b.name] = b
		rows = max(rows, b.row+1)
	}
	w, h := 2*margin+columns*width+(columns-1)*gapX, 2*margin+rows*height+(rows-1)*gapY
	var s strings.Builder
	fmt.Fprintf(&s, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>From a pin to a receipt</title>\n<style>%s</style>\n", w, h, style)
	s.WriteString("<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" style=\"fill:#5a616b;stroke:none\"/></marker></defs>\n")
	fmt.Fprintf(&s, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", w, h)
	for _, a := range arrows {
		fmt.Fprintf(&s, "<path d=\"%s\" marker-end=\"url(#head)\"/>\n", line(byName[a.from], byName[a.to]))
	}
	for _, b := range boxes {
		fmt.Fprintf(&s, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>", b.kind, b.left(), b.top(), width, height)
		fmt.Fprintf(&s, "<text class=\"title\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", b.middle(), b.top()+23, html.EscapeString(b.title))
		fmt.Fprintf(&s, "<text class=\"detail\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", b.middle(), b.top()+40, html.EscapeString(b.detail))
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// line leads down to a later row, with one bend between them, or to the right in the same row.
func line(from, to box) string {
	if from.row == to.row {
		return fmt.Sprintf("M%d %dH%d", from.left()+width, from.top()+height/2, to.left())
	}
	bend := to.top() - gapY/2
	return fmt.Sprintf("M%d %dV%dH%dV%d", from.middle(), from.top()+height, bend, to.middle(), to.top())
}
