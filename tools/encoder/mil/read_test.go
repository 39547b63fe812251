package mil

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

type twoWays struct {
	data  []byte
	fault error
}

func (twoWays) Blob(BlobRef) (DType, []byte, error) { return Uint8, []byte("mapped"), nil }

func (w twoWays) Section(BlobRef) (DType, *io.SectionReader, error) {
	return Uint8, io.NewSectionReader(bytes.NewReader(w.data), 0, 4), w.fault
}

type oneWay struct{}

func (oneWay) Blob(BlobRef) (DType, []byte, error) { return Uint8, []byte("mapped"), nil }

// Blobs are read where sections can be had, and a file that ends early or cannot be read is an error.
func TestRead(t *testing.T) {
	if _, b, err := Read(twoWays{data: []byte("read")}).Blob(BlobRef{}); err != nil || string(b) != "read" {
		t.Errorf("%q, %v", b, err)
	}
	if _, b, err := Read(oneWay{}).Blob(BlobRef{}); err != nil || string(b) != "mapped" {
		t.Errorf("%q, %v", b, err)
	}
	if _, _, err := Read(twoWays{data: []byte("rea")}).Blob(BlobRef{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut file: %v", err)
	}
	fault := errors.New("disk")
	if _, _, err := Read(twoWays{fault: fault}).Blob(BlobRef{}); !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
	if Read(nil) != nil {
		t.Error("no weights became some")
	}
}
