package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDrawn compares docs/flow.svg with the drawing, which has to be XML.
func TestDrawn(t *testing.T) {
	want := draw(steps, arrows)
	got, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "flow.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/flow.svg is stale: go run ./tools/dev/flow > docs/flow.svg")
	}
	for d := xml.NewDecoder(strings.NewReader(want)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestGrid holds that no two boxes share a place, that arrows join boxes, and that they lead down or to the right.
func TestGrid(t *testing.T) {
	places, byName := map[[2]int]string{}, map[string]box{}
	for _, b := range steps {
		if other := places[[2]int{b.column, b.row}]; other != "" || b.column >= columns {
			t.Errorf("%s: column %d, row %d, where %q is", b.name, b.column, b.row, other)
		}
		places[[2]int{b.column, b.row}] = b.name
		byName[b.name] = b
		// A letter takes 6.2 pixels at most, on the average of a line.
		if float64(len(b.detail))*6.2 > width {
			t.Errorf("%s: %q is wider than its box", b.name, b.detail)
		}
	}
	for _, a := range arrows {
		from, ok := byName[a.from]
		to, ok2 := byName[a.to]
		if !ok || !ok2 || to.row < from.row || to.row == from.row && to.column != from.column+1 {
			t.Errorf("arrow from %s to %s", a.from, a.to)
		}
	}
}
