package eval

import "fmt"

// load reads the late constants that a step takes, and on demand those that its results are views of.
func (f *frame) load(s *step, results bool) error {
	for _, n := range s.ins {
		if err := f.read(n.root); err != nil {
			return err
		}
	}
	for _, n := range s.outs {
		if !results {
			break
		}
		if err := f.read(n.root); err != nil {
			return err
		}
	}
	return nil
}

func (f *frame) read(n *node) error {
	if n.late == nil || f.buf[n.slot] != nil {
		return nil
	}
	b := f.spare
	f.spare = nil
	if cap(b) < n.bytes {
		b = allocate(n.bytes)
	}
	b = b[:n.bytes]
	if err := f.late.Read(*n.late, b); err != nil {
		return fmt.Errorf("constant %s: %w", n.name, err)
	}
	f.buf[n.slot] = b
	return nil
}

// release drops what load read, and keeps the largest piece of memory for the next.
func (f *frame) release(s *step) {
	drop := func(n *node) {
		if n.late == nil {
			return
		}
		if b := f.buf[n.slot]; cap(b) > cap(f.spare) {
			f.spare = b
		}
		f.buf[n.slot] = nil
	}
	for _, n := range s.ins {
		drop(n.root)
	}
	for _, n := range s.outs {
		drop(n.root)
	}
}
