package tensorfile

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ReadNPY reads an array from r, which has size bytes.
func ReadNPY(r io.Reader, size int64) (*Tensor, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:6]) != "\x93NUMPY" {
		return nil, errors.New("not a .npy file: expected it to begin with \\x93NUMPY")
	}
	width := 4
	switch head[6] {
	case 1:
		width = 2
	case 2, 3:
	default:
		return nil, fmt.Errorf(".npy version %d.%d: expected 1, 2 or 3", head[6], head[7])
	}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:width]); err != nil {
		return nil, fmt.Errorf("the header ends early: %w", err)
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes is above the limit of %d", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("the header ends early: %w", err)
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return nil, err
	}
	t, err := decode(r, size-int64(8+width)-int64(n), h.shape, h.element, h.order)
	if err != nil {
		return nil, err
	}
	if h.fortran {
		t.Values = rowMajor(t.Values, t.Shape)
	}
	return t, nil
}

// rowMajor reorders values whose first index runs fastest.
func rowMajor(v []float64, shape []int) []float64 {
	out := make([]float64, len(v))
	index := make([]int, len(shape))
	for _, x := range v {
		at := 0
		for d, i := range index {
			at = at*shape[d] + i
		}
		out[at] = x
		for d := range index {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
	}
	return out
}

type npyHeader struct {
	element elementType
	order   binary.ByteOrder
	fortran bool
	shape   []int64
}

// parseHeader reads the dictionary that NumPy writes: three keys, in any order,
// a string, a boolean and a tuple of integers.
func parseHeader(s string) (*npyHeader, error) {
	p := &literal{rest: s}
	h := &npyHeader{}
	seen := map[string]bool{}
	p.want("{")
	for p.err == nil && !p.take("}") {
		key := p.quoted()
		if seen[key] {
			p.fail("key %q stands twice", key)
		}
		seen[key] = true
		p.want(":")
		switch key {
		case "descr":
			h.setType(p, p.quoted())
		case "fortran_order":
			switch {
			case p.take("True"):
				h.fortran = true
			case !p.take("False"):
				p.fail("fortran_order: expected True or False")
			}
		case "shape":
			p.want("(")
			for p.err == nil && !p.take(")") {
				h.shape = append(h.shape, p.integer())
				if !p.take(",") {
					p.want(")")
					break
				}
			}
		default:
			p.fail("key %q is not known", key)
		}
		if !p.take(",") {
			p.want("}")
			break
		}
	}
	if p.err == nil && (len(seen) != 3 || strings.TrimSpace(p.rest) != "") {
		p.fail("expected descr, fortran_order and shape, and nothing after them")
	}
	if p.err != nil {
		return nil, fmt.Errorf("the header %.80q: %w", s, p.err)
	}
	return h, nil
}

func (h *npyHeader) setType(p *literal, descr string) {
	if len(descr) < 2 {
		p.fail("descr %q is not a type", descr)
		return
	}
	switch descr[0] {
	case '<', '|':
		h.order = binary.LittleEndian
	case '>':
		h.order = binary.BigEndian
	case '=':
		p.fail("descr %q depends on the machine that wrote it", descr)
	default:
		p.fail("descr %q is not a type", descr)
	}
	switch descr[1:] {
	case "f2":
		h.element = typeF16
	case "f4":
		h.element = typeF32
	case "f8":
		h.element = typeF64
	default:
		p.fail("elements are %q: expected floating-point numbers (f2, f4 or f8)", descr)
	}
}

// literal takes a Python literal apart.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, a ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, a...)
	}
}

func (p *literal) take(s string) bool {
	p.rest = strings.TrimLeft(p.rest, " \t\n")
	if !strings.HasPrefix(p.rest, s) {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

func (p *literal) want(s string) {
	if !p.take(s) {
		p.fail("expected %q", s)
	}
}

func (p *literal) quoted() string {
	quote := "'"
	if !p.take(quote) {
		if quote = `"`; !p.take(quote) {
			p.fail("expected a string")
			return ""
		}
	}
	s, rest, ok := strings.Cut(p.rest, quote)
	if !ok || strings.ContainsAny(s, "\\\n") {
		p.fail("a string does not end, or holds an escape")
		return ""
	}
	p.rest = rest
	return s
}

func (p *literal) integer() int64 {
	p.take("")
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(p.rest[:n], 10, 64)
	if err != nil {
		p.fail("expected an integer")
	}
	p.rest = strings.TrimPrefix(p.rest[n:], "L") // Python 2 wrote 3L
	return v
}

// ReadNPZ reads a member of an archive; member may leave out ".npy", and be ""
// where the archive has one member.
func ReadNPZ(r io.ReaderAt, size int64, member string) (*Tensor, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("not an .npz archive: %w", err)
	}
	var names []string
	var found *zip.File
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		names = append(names, name)
		if name == strings.TrimSuffix(member, ".npy") || member == "" && len(z.File) == 1 {
			if found != nil {
				return nil, fmt.Errorf("member %q stands twice", name)
			}
			found = f
		}
	}
	if found == nil {
		return nil, request{fmt.Errorf("no member %q; the archive has %.20q: name one", member, names)}
	}
	if found.UncompressedSize64 > math.MaxInt64/2 {
		return nil, fmt.Errorf("member %q claims %d bytes", found.Name, found.UncompressedSize64)
	}
	f, err := found.Open()
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", found.Name, err)
	}
	defer f.Close()
	t, err := ReadNPY(f, int64(found.UncompressedSize64))
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", found.Name, err)
	}
	// Reading to the end makes the archive's checksum count.
	if n, err := io.Copy(io.Discard, f); err != nil || n > 0 {
		return nil, fmt.Errorf("member %q: %d bytes too many, %v", found.Name, n, err)
	}
	t.Name = strings.TrimSuffix(found.Name, ".npy")
	return t, nil
}
