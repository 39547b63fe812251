package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

const coreMLDataName = "coremldata.bin"

// CoreMLData is coremldata.bin of a compiled model. Little-endian:
//
//	u32 model type (the field number in Model: 502 is mlProgram), u32 5, 20 zero bytes,
//	u64 7 and "generic", u32 specificationVersion, 28 zero bytes,
//	u64 length and a ModelDescription protobuf, u32 model type, 12 zero bytes
//
// The meaning of the fixed fields is not published; a file where they differ
// is refused rather than misread.
type CoreMLData struct {
	Kind                 spec.Kind
	SpecificationVersion int32
	Description          *spec.Description
	// Unknown names description fields that package spec does not know.
	Unknown []string
}

const (
	coreMLDataLayout = 5
	coreMLDataLabel  = "generic"
	descriptionAt    = 0x53
	trailerBytes     = 16
)

// ErrEmptyCoreMLData says that coremldata.bin has no content.
var ErrEmptyCoreMLData = errors.New("the file is empty")

// ParseCoreMLData decodes a coremldata.bin.
func ParseCoreMLData(b []byte) (*CoreMLData, error) {
	if len(b) == 0 {
		return nil, ErrEmptyCoreMLData
	}
	if len(b) < descriptionAt+trailerBytes {
		return nil, fmt.Errorf("%d bytes: expected at least %d", len(b), descriptionAt+trailerBytes)
	}
	le := binary.LittleEndian
	kind := le.Uint32(b)
	if v := le.Uint32(b[4:]); v != coreMLDataLayout {
		return nil, fmt.Errorf("layout %d at offset 4: expected %d", v, coreMLDataLayout)
	}
	if n := le.Uint64(b[0x1C:]); n != uint64(len(coreMLDataLabel)) || string(b[0x24:0x2B]) != coreMLDataLabel {
		return nil, fmt.Errorf("label at offset 28: expected %q of length %d, found %q of length %d",
			coreMLDataLabel, len(coreMLDataLabel), b[0x24:0x2B], n)
	}
	version := le.Uint32(b[0x2B:])
	size := le.Uint64(b[0x4B:])
	if size != uint64(len(b)-descriptionAt-trailerBytes) {
		return nil, fmt.Errorf("description of %d bytes at offset 75: the file has room for exactly %d",
			size, len(b)-descriptionAt-trailerBytes)
	}
	if end := le.Uint32(b[len(b)-trailerBytes:]); end != kind || kind > 3000 || version == 0 || version > math.MaxInt16 {
		return nil, fmt.Errorf("model type %d at the start and %d at the end, specification version %d: the file is damaged", kind, end, version)
	}
	d := &CoreMLData{Kind: spec.Kind(kind), SpecificationVersion: int32(version)}
	var err error
	d.Description, d.Unknown, err = spec.DecodeDescription(b[descriptionAt : len(b)-trailerBytes])
	if err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	return d, nil
}

// Encode writes a coremldata.bin.
func (d *CoreMLData) Encode() ([]byte, error) {
	desc, err := spec.EncodeDescription(d.Description)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	b := make([]byte, descriptionAt, descriptionAt+len(desc)+trailerBytes)
	le.PutUint32(b, uint32(d.Kind))
	le.PutUint32(b[4:], coreMLDataLayout)
	le.PutUint64(b[0x1C:], uint64(len(coreMLDataLabel)))
	copy(b[0x24:], coreMLDataLabel)
	le.PutUint32(b[0x2B:], uint32(d.SpecificationVersion))
	le.PutUint64(b[0x4B:], uint64(len(desc)))
	b = append(b, desc...)
	b = le.AppendUint32(b, uint32(d.Kind))
	return append(b, make([]byte, trailerBytes-4)...), nil
}
