package tensorfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteNPY writes a float32 array in row-major order, as version 1 of the format.
func WriteNPY(w io.Writer, shape []int, values []float32) error {
	var dims strings.Builder
	n := 1
	for _, d := range shape {
		fmt.Fprintf(&dims, "%d, ", d)
		n *= d
	}
	if n != len(values) {
		return fmt.Errorf("shape %v has %d elements, but there are %d values", shape, n, len(values))
	}
	tuple := strings.TrimSuffix(dims.String(), " ")
	if len(shape) > 1 {
		tuple = strings.TrimSuffix(tuple, ",")
	}
	head := "{'descr': '<f4', 'fortran_order': False, 'shape': (" + tuple + "), }"
	const start = 10
	head += strings.Repeat(" ", 63-(start+len(head))%64) + "\n"
	b := bufio.NewWriter(w)
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(head))))
	b.WriteString(head)
	for _, v := range values {
		b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
	}
	return b.Flush()
}
