package blob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// written returns a file of three blobs and their places.
func written(t testing.TB) ([]byte, []Info) {
	t.Helper()
	var l Layout
	var infos []Info
	for _, e := range []struct {
		t Type
		n uint64
	}{{Float16, 5}, {Uint3, 3}, {Int8, 64}} {
		i, err := l.Add(e.t, e.n)
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, i)
	}
	var b bytes.Buffer
	err := l.Write(&b, func(n int, w io.Writer) error {
		_, err := w.Write(bytes.Repeat([]byte{byte(n + 1)}, int(infos[n].Size)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if uint64(b.Len()) != l.Size() {
		t.Fatalf("wrote %d bytes, Size says %d", b.Len(), l.Size())
	}
	return b.Bytes(), infos
}

func TestRoundTrip(t *testing.T) {
	b, infos := written(t)
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = f.Each(func(i Info) error {
		if i != infos[n] {
			t.Errorf("blob %d: want %+v, got %+v", n, infos[n], i)
		}
		data, err := io.ReadAll(f.Data(i))
		if err != nil || !bytes.Equal(data, bytes.Repeat([]byte{byte(n + 1)}, int(i.Size))) {
			t.Errorf("blob %d holds % x (%v)", n, data, err)
		}
		n++
		return nil
	})
	if err != nil || n != 3 {
		t.Fatalf("saw %d blobs: %v", n, err)
	}
	if got := infos[1]; got.Size != 2 || got.PaddingBits != 7 || got.Elements() != 3 {
		t.Errorf("three 3-bit numbers: want 2 bytes with 7 bits of padding, got %+v", got)
	}
}

// The layout that real files have: 64 bytes of header, metadata right before
// the data, the end without padding.
func TestLayoutIsThatOfRealFiles(t *testing.T) {
	b, infos := written(t)
	if infos[0].Meta != 64 || infos[0].Offset != 128 || infos[1].Meta != 192 || infos[2].Meta != 320 || len(b) != 448 {
		t.Errorf("blobs at %+v in %d bytes", infos, len(b))
	}
	le := binary.LittleEndian
	if le.Uint32(b) != 3 || le.Uint32(b[4:]) != 2 || le.Uint32(b[64:]) != 0xDEADBEEF || le.Uint32(b[68:]) != 1 {
		t.Errorf("header and first metadata are % x", b[:80])
	}
}

func TestGarbageInReservedFieldsIsIgnored(t *testing.T) {
	b, infos := written(t)
	for i := 8; i < 64; i++ {
		b[i] = 0xAA
	}
	for i := 24; i < 64; i++ { // padding bits count only below one byte
		b[infos[0].Meta+uint64(i)] = 0xAA
	}
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Stat(64); err != nil || got != infos[0] {
		t.Errorf("want %+v, got %+v (%v)", infos[0], got, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		meta   uint64
		want   string
	}{
		{"empty", func([]byte) []byte { return nil }, 64, "expected a header of 64"},
		{"version 1", func(b []byte) []byte { b[4] = 1; return b }, 64, "version 1: expected 2"},
		{"too many blobs", func(b []byte) []byte { b[1] = 1; return b }, 64, "cannot hold the 259 blobs"},
		{"cut within data", func(b []byte) []byte { return b[:400] }, 320, "cut short or damaged"},
		{"cut within metadata", func(b []byte) []byte { return b[:330] }, 320, "no blob at offset 320"},
		{"not aligned", func(b []byte) []byte { return b }, 65, "no blob at offset 65"},
		{"in the header", func(b []byte) []byte { return b }, 0, "no blob at offset 0"},
		{"far away", func(b []byte) []byte { return b }, 1 << 63, "no blob at offset"},
		{"at data", func(b []byte) []byte { return b }, 128, "expected the mark 0xdeadbeef"},
		{"unknown type", func(b []byte) []byte { b[68] = 99; return b }, 64, "unknown element type 99"},
		{"size beyond file", func(b []byte) []byte { b[79] = 1; return b }, 64, "cut short or damaged"},
		{"data before metadata", func(b []byte) []byte { b[64+16] = 0; return b }, 64, "do not lie behind it"},
		{"odd float16", func(b []byte) []byte { b[72] = 3; return b }, 64, "no whole number of fp16"},
		{"padding", func(b []byte) []byte { b[192+24] = 6; return b }, 192, "6 padding bits do not fit"},
	} {
		b, _ := written(t)
		b = c.change(b)
		f, err := Open(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			_, err = f.Stat(c.meta)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
	}
}

func TestLFSPointer(t *testing.T) {
	b := "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
	if _, err := Open(strings.NewReader(b), int64(len(b))); !errors.Is(err, mil.ErrLFSPointer) {
		t.Errorf("want ErrLFSPointer, got %v", err)
	}
}

func TestWriterHoldsDataToItsSize(t *testing.T) {
	for _, n := range []int{0, 3, 5} {
		var l Layout
		if _, err := l.Add(Uint8, 4); err != nil {
			t.Fatal(err)
		}
		err := l.Write(io.Discard, func(_ int, w io.Writer) error {
			_, err := w.Write(make([]byte, n))
			return err
		})
		if err == nil {
			t.Errorf("%d bytes were taken for 4", n)
		}
	}
	if _, err := new(Layout).Add(99, 1); err == nil {
		t.Error("an unknown type was placed")
	}
}

func FuzzOpen(f *testing.F) {
	b, _ := written(f)
	f.Add(b, uint64(64))
	f.Add(b, uint64(192))
	f.Fuzz(func(t *testing.T, b []byte, meta uint64) {
		file, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		seen := 0
		_ = file.Each(func(i Info) error {
			seen++
			n, err := io.Copy(io.Discard, file.Data(i))
			if err != nil || uint64(n) != i.Size {
				t.Fatalf("blob %+v: read %d bytes (%v)", i, n, err)
			}
			return nil
		})
		if seen > len(b)/metaBytes {
			t.Fatalf("%d blobs in %d bytes", seen, len(b))
		}
		if i, err := file.Stat(meta); err == nil && i.Offset+i.Size > uint64(len(b)) {
			t.Fatalf("blob %+v lies outside of %d bytes", i, len(b))
		}
	})
}
