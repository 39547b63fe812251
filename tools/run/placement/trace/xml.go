package trace

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of an export.
const (
	maxBytes = 64 << 20
	maxDepth = 32
	maxRows  = 500_000
	maxText  = 4096
)

// element is one element of an export, with its children.
type element struct {
	name     string
	attrs    map[string]string
	text     string
	children []*element
}

func (e *element) child(name string) *element {
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// at follows names from child to child; nil where one is missing.
func (e *element) at(names ...string) *element {
	for _, name := range names {
		if e = e.child(name); e == nil {
			return nil
		}
	}
	return e
}

func (e *element) textAt(names ...string) string {
	if found := e.at(names...); found != nil {
		return found.text
	}
	return ""
}

// parser reads an export into elements, or hands children of one name over and forgets them.
type parser struct {
	decoder *xml.Decoder
	// stream is the name of those elements that take does something with; they are not kept.
	stream string
	take   func(*element) error
}

// parse reads a whole document whose root has the name. There is one root, no document type and nothing after it.
func parse(data []byte, root, stream string, take func(*element) error) (*element, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(data), maxBytes)
	}
	p := &parser{xml.NewDecoder(bytes.NewReader(data)), stream, take}
	p.decoder.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("encoding %.40q, expected UTF-8", charset)
	}
	var top *element
	for {
		token, err := p.decoder.Token()
		if errors.Is(err, io.EOF) && top != nil {
			return top, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if top != nil || t.Name.Local != root {
				return nil, fmt.Errorf("element %.40q, expected one root %s", t.Name.Local, root)
			}
			if top, err = p.element(t, 0); err != nil {
				return nil, err
			}
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return nil, errors.New("text outside of the root")
			}
		case xml.Directive:
			return nil, errors.New("a document type, which no export has")
		}
	}
}

func (p *parser) element(start xml.StartElement, depth int) (*element, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("elements are nested more than %d deep", maxDepth)
	}
	e := &element{name: start.Name.Local, attrs: map[string]string{}}
	for _, a := range start.Attr {
		if _, twice := e.attrs[a.Name.Local]; twice || len(a.Value) > maxText {
			return nil, fmt.Errorf("attribute %.40q of %.40q is there twice, or longer than %d bytes", a.Name.Local, e.name, maxText)
		}
		e.attrs[a.Name.Local] = a.Value
	}
	var text strings.Builder
	for {
		token, err := p.decoder.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			c, err := p.element(t, depth+1)
			if err != nil {
				return nil, err
			}
			if c.name == p.stream && p.take != nil {
				if err := p.take(c); err != nil {
					return nil, err
				}
				continue
			}
			e.children = append(e.children, c)
		case xml.CharData:
			if text.Len()+len(t) > maxText {
				return nil, fmt.Errorf("text of %.40q is longer than %d bytes", e.name, maxText)
			}
			text.Write(t)
		case xml.Directive:
			return nil, errors.New("a document type, which no export has")
		case xml.EndElement:
			e.text = strings.TrimSpace(text.String())
			return e, nil
		}
	}
}
