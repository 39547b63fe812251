// Package text reads and writes the text form of MIL programs: model.mil
// inside a compiled .mlmodelc. The grammar, as Apple's compiler writes it:
//
//	prog  := "program" "(" 1.0 | 1.3 ")" attrs? "{" func* "}"
//	func  := "func" NAME "<" OPSET ">" "(" (T NAME),* ")" attrs? "{" op* "}" "->" "(" NAME,* ")" ";"
//	op    := (T NAME),+ "=" KIND "(" (NAME "=" bind),* ")" attrs? ";"
//	bind  := NAME | "(" bind,* ")" | T "(" lit ")"
//	attrs := "[" (NAME "=" T "(" lit ")"),* "]"
//	T     := "tensor" "<" dtype "," "[" dim,* "]" ">" | dtype | "list" "<" T "," dim ">"
//	       | "dict" "<" T "," T ">" | "tuple" "<" T,* ">" | "state" "<" T ">"
//	dim   := integer | "?"
//	lit   := string | integer | float (decimal or hexadecimal) | inf | nan | true | false
//	       | "[" lit,* "]" | "(" lit,* ")" | "{" ("{" lit "," lit "}"),* "}"
//	       | "BLOBFILE" "(" "path" "=" T "(" lit ")" "," "offset" "=" T "(" lit ")" ")"
//
// Program 1.0 writes scalars as tensors of rank 0, program 1.3 plainly; both
// spellings are read in either. Number literals take their type from the type
// before them. Nested blocks (control flow) have no spelling that was ever
// seen in a real file: they are refused by name, not guessed at.
package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Limits of what Parse reads. Real programs stay far below: the encoder of
// large-v3 in its longest spelling has about four megabytes of text.
const (
	MaxBytes = 64 << 20
	maxDepth = 64
	maxNodes = 4 << 20 // operations, arguments, attributes, types and values together
)

// Error is a syntax error at a place in the text.
type Error struct {
	Line, Col int // from 1; columns count bytes
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d column %d: %s", e.Line, e.Col, e.Msg) }

// Read parses a program from r, at most MaxBytes of it.
func Read(r io.Reader) (*mil.Program, error) {
	var b strings.Builder
	n, err := io.Copy(&b, io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read program text: %w", err)
	}
	if n > MaxBytes {
		return nil, fmt.Errorf("program text is longer than %d bytes, the limit", MaxBytes)
	}
	return Parse(b.String())
}

// Parse parses a whole program and checks that its names agree.
func Parse(src string) (*mil.Program, error) {
	if len(src) > MaxBytes {
		return nil, fmt.Errorf("program text is %d bytes long, the limit is %d", len(src), MaxBytes)
	}
	p := &parser{lex: lexer{src: src, line: 1}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	prog, err := p.program()
	if err != nil {
		return nil, err
	}
	if err := prog.Validate(); err != nil {
		return nil, err
	}
	return prog, nil
}

type parser struct {
	lex   lexer
	tok   token
	depth int
	nodes int
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) errorf(format string, args ...any) error {
	return p.lex.errorf(p.tok.line, p.tok.col, format, args...)
}

// node counts what will take memory.
func (p *parser) node() error {
	if p.nodes++; p.nodes > maxNodes {
		return p.errorf("program has more than %d parts, the limit", maxNodes)
	}
	return nil
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.errorf("types or values nest deeper than %d, the limit", maxDepth)
	}
	return p.node()
}

func (p *parser) leave() { p.depth-- }

func (p *parser) is(punct string) bool { return p.tok.kind == tokPunct && p.tok.text == punct }

func (p *parser) isWord(w string) bool { return p.tok.kind == tokIdent && p.tok.text == w }

func (p *parser) accept(punct string) (bool, error) {
	if !p.is(punct) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(punct string) error {
	if !p.is(punct) {
		return p.errorf("expected %q, found %s", punct, p.tok.describe())
	}
	return p.advance()
}

func (p *parser) word(w string) error {
	if !p.isWord(w) {
		return p.errorf("expected %q, found %s", w, p.tok.describe())
	}
	return p.advance()
}

func (p *parser) ident(what string) (string, error) {
	if p.tok.kind != tokIdent {
		return "", p.errorf("expected %s, found %s", what, p.tok.describe())
	}
	s := strings.Clone(p.tok.text)
	return s, p.advance()
}

// list parses zero or more items, separated by commas, up to close.
func (p *parser) list(open, close string, item func() error) error {
	if err := p.expect(open); err != nil {
		return err
	}
	for first := true; ; first = false {
		done, err := p.accept(close)
		if err != nil || done {
			return err
		}
		if !first {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
}

func (p *parser) program() (*mil.Program, error) {
	prog := &mil.Program{}
	if err := p.word("program"); err != nil {
		return nil, err
	}
	if err := p.version(prog); err != nil {
		return nil, err
	}
	var err error
	if prog.Attrs, err = p.attrs(); err != nil {
		return nil, err
	}
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	for !p.is("}") {
		f, err := p.function()
		if err != nil {
			return nil, err
		}
		prog.Functions = append(prog.Functions, f)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokEOF {
		return nil, p.errorf("expected the end of the file after the program, found %s", p.tok.describe())
	}
	return prog, nil
}

func (p *parser) version(prog *mil.Program) error {
	if err := p.expect("("); err != nil {
		return err
	}
	switch {
	case p.tok.kind == tokNumber && p.tok.text == "1.0":
		prog.Major, prog.Minor = 1, 0
	case p.tok.kind == tokNumber && p.tok.text == "1.3":
		prog.Major, prog.Minor = 1, 3
	default:
		return p.errorf("program version: expected 1.0 or 1.3, found %s", p.tok.describe())
	}
	if err := p.advance(); err != nil {
		return err
	}
	return p.expect(")")
}

func (p *parser) function() (*mil.Function, error) {
	f := &mil.Function{Line: p.tok.line, Body: &mil.Block{}}
	if err := p.word("func"); err != nil {
		return nil, err
	}
	var err error
	if f.Name, err = p.ident("a function name"); err != nil {
		return nil, err
	}
	if err := p.expect("<"); err != nil {
		return nil, err
	}
	if f.Opset, err = p.ident("an opset such as ios17"); err != nil {
		return nil, err
	}
	if err := p.expect(">"); err != nil {
		return nil, err
	}
	err = p.list("(", ")", func() error {
		prm, err := p.param()
		f.Params = append(f.Params, prm)
		return err
	})
	if err != nil {
		return nil, err
	}
	if f.Attrs, err = p.attrs(); err != nil {
		return nil, err
	}
	if err := p.body(f.Body); err != nil {
		return nil, err
	}
	return f, p.expect(";")
}

func (p *parser) param() (mil.Param, error) {
	t, err := p.typ()
	if err != nil {
		return mil.Param{}, err
	}
	name, err := p.ident("a name")
	return mil.Param{Name: name, Type: t}, err
}

func (p *parser) body(b *mil.Block) error {
	if err := p.expect("{"); err != nil {
		return err
	}
	for !p.is("}") {
		op, err := p.op()
		if err != nil {
			return err
		}
		b.Ops = append(b.Ops, op)
	}
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("->"); err != nil {
		return err
	}
	return p.list("(", ")", func() error {
		name, err := p.ident("the name of an output")
		b.Outputs = append(b.Outputs, name)
		return err
	})
}

func (p *parser) op() (*mil.Op, error) {
	op := &mil.Op{Line: p.tok.line}
	if err := p.node(); err != nil {
		return nil, err
	}
	if !p.startsCall() {
		if err := p.outputs(op); err != nil {
			return nil, err
		}
	}
	var err error
	if op.Type, err = p.ident("an operation"); err != nil {
		return nil, err
	}
	err = p.list("(", ")", func() error {
		a, err := p.arg()
		op.Inputs = append(op.Inputs, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.is("(") || p.is("{") {
		return nil, p.errorf("operation %s has nested blocks (control flow), which this reader does not know", op.Type)
	}
	if op.Attrs, err = p.attrs(); err != nil {
		return nil, err
	}
	return op, p.expect(";")
}

// startsCall tells an operation without outputs, such as write_state(…),
// from one that begins with a type.
func (p *parser) startsCall() bool {
	if p.tok.kind != tokIdent {
		return false
	}
	rest := strings.TrimLeft(p.lex.src[p.lex.pos:], " \t\r\n")
	return strings.HasPrefix(rest, "(")
}

func (p *parser) outputs(op *mil.Op) error {
	for {
		if err := p.node(); err != nil {
			return err
		}
		out, err := p.param()
		if err != nil {
			return err
		}
		op.Outputs = append(op.Outputs, out)
		more, err := p.accept(",")
		if err != nil {
			return err
		}
		if !more {
			return p.expect("=")
		}
	}
}
