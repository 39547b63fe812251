package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

const coreMLDataName = "coremldata.bin"

// CoreMLData is coremldata.bin of a compiled model. Little-endian:
//
//	u32 model type (the field number in Model: 502 is mlProgram),
//	three u64: the version of the container, such as 5, 0, 0,
//	u64 7 and "generic", u32 specificationVersion, 28 zero bytes,
//	u64 length and a ModelDescription protobuf, u32 model type, 12 zero bytes
//
// Versions seen are 5.0.0, and 1.2.1 and 1.3.0 in models that were compiled from
// 2018 to 2021. What is zero in every file that was seen is checked, and a file of
// another version or with other bytes there is refused rather than misread.
type CoreMLData struct {
	Kind                 spec.Kind
	SpecificationVersion int32
	Description          *spec.Description
	// Container is the version of the container.
	Container ContainerVersion
	// Unknown names description fields that package spec does not know.
	Unknown []string
}

// ContainerVersion is the version that coremldata.bin begins with.
type ContainerVersion [3]uint64

func (v ContainerVersion) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// currentContainer is what is written, containers what is read.
var (
	currentContainer = ContainerVersion{5, 0, 0}
	containers       = []ContainerVersion{{1, 2, 1}, {1, 3, 0}, currentContainer}
)

// ErrContainerVersion says that coremldata.bin is of a version that is not known.
var ErrContainerVersion = errors.New("unknown version of the container")

const (
	coreMLDataLabel = "generic"
	descriptionAt   = 0x53
	trailerBytes    = 16
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
	container := ContainerVersion{le.Uint64(b[4:]), le.Uint64(b[12:]), le.Uint64(b[20:])}
	if !slices.Contains(containers, container) {
		return nil, fmt.Errorf("container version %s at offset 4: %w; known are %v", container, ErrContainerVersion, containers)
	}
	if n := le.Uint64(b[0x1C:]); n != uint64(len(coreMLDataLabel)) || string(b[0x24:0x2B]) != coreMLDataLabel {
		return nil, fmt.Errorf("label at offset 28: expected %q of length %d, found %q of length %d",
			coreMLDataLabel, len(coreMLDataLabel), b[0x24:0x2B], n)
	}
	version := le.Uint32(b[0x2B:])
	size := le.Uint64(b[0x4B:])
	if !zero(b[0x2F:0x4B]) || !zero(b[len(b)-trailerBytes+4:]) {
		return nil, errors.New("bytes 47 to 74, or the last 12, are not zero as in every file that is known: the file is damaged")
	}
	if size != uint64(len(b)-descriptionAt-trailerBytes) {
		return nil, fmt.Errorf("description of %d bytes at offset 75: the file has room for exactly %d",
			size, len(b)-descriptionAt-trailerBytes)
	}
	if end := le.Uint32(b[len(b)-trailerBytes:]); end != kind || kind > 3000 || version == 0 || version > math.MaxInt16 {
		return nil, fmt.Errorf("model type %d at the start and %d at the end, specification version %d: the file is damaged", kind, end, version)
	}
	d := &CoreMLData{Container: container, Kind: spec.Kind(kind), SpecificationVersion: int32(version)}
	var err error
	d.Description, d.Unknown, err = spec.DecodeDescription(b[descriptionAt : len(b)-trailerBytes])
	if err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	return d, nil
}

func zero(b []byte) bool { return !slices.ContainsFunc(b, func(x byte) bool { return x != 0 }) }

// Encode writes a coremldata.bin.
func (d *CoreMLData) Encode() ([]byte, error) {
	desc, err := spec.EncodeDescription(d.Description)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	b := make([]byte, descriptionAt, descriptionAt+len(desc)+trailerBytes)
	le.PutUint32(b, uint32(d.Kind))
	for i, part := range currentContainer {
		le.PutUint64(b[4+8*i:], part)
	}
	le.PutUint64(b[0x1C:], uint64(len(coreMLDataLabel)))
	copy(b[0x24:], coreMLDataLabel)
	le.PutUint32(b[0x2B:], uint32(d.SpecificationVersion))
	le.PutUint64(b[0x4B:], uint64(len(desc)))
	b = append(b, desc...)
	b = le.AppendUint32(b, uint32(d.Kind))
	return append(b, make([]byte, trailerBytes-4)...), nil
}
