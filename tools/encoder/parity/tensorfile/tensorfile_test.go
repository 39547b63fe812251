package tensorfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npy writes an array by the format's description.
func npy(descr, order, shape string, data []byte) []byte {
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	for (10+len(h)+1)%64 != 0 {
		h += " "
	}
	h += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(h)), byte(len(h)>>8))
	return append(append(b, h...), data...)
}

func f32(order binary.AppendByteOrder, v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = order.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

var six = []float64{1, 2, 3, 4, 5, 6}

func TestNPY(t *testing.T) {
	le := binary.LittleEndian
	var f8 []byte
	for _, v := range six {
		f8 = le.AppendUint64(f8, math.Float64bits(v))
	}
	f2 := []byte{0x00, 0x3c, 0x00, 0x40, 0x00, 0x42, 0x00, 0x44, 0x00, 0x45, 0x00, 0x46}
	for name, file := range map[string][]byte{
		"float32":      npy("<f4", "False", "(2, 3)", f32(le, 1, 2, 3, 4, 5, 6)),
		"big-endian":   npy(">f4", "False", "(2, 3)", f32(binary.BigEndian, 1, 2, 3, 4, 5, 6)),
		"column-major": npy("<f4", "True", "(2, 3)", f32(le, 1, 4, 2, 5, 3, 6)),
		"float64":      npy("<f8", "False", "(2, 3)", f8),
		"float16":      npy("<f2", "False", "(2, 3,)", f2),
	} {
		got, err := ReadNPY(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(got.Values, six) || !slices.Equal(got.Shape, []int{2, 3}) {
			t.Errorf("%s: %v %v", name, got.Shape, got.Values)
		}
	}
}

func TestHalfByDefinition(t *testing.T) {
	for h, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: 0x1p-24, 0x83ff: -1023 * 0x1p-24, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1), 0x3555: 0.333251953125} {
		if got := half(h); got != want {
			t.Errorf("%#04x is %g, want %g", h, got, want)
		}
	}
	if !math.IsNaN(half(0x7e00)) || !math.Signbit(half(0x8000)) {
		t.Error("NaN or minus zero is lost")
	}
}

func TestRefusals(t *testing.T) {
	le := binary.LittleEndian
	good := npy("<f4", "False", "(2, 3)", f32(le, 1, 2, 3, 4, 5, 6))
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"integers":       {npy("<i4", "False", "(2, 3)", make([]byte, 24)), "floating-point"},
		"native order":   {npy("=f4", "False", "(2, 3)", make([]byte, 24)), "depends on the machine"},
		"too short":      {good[:len(good)-1], "takes 24 bytes"},
		"too long":       {append(slices.Clone(good), 0), "takes 24 bytes"},
		"huge":           {npy("<f4", "False", "(4000000000, 4000000000)", nil), "at most"},
		"negative":       {npy("<f4", "False", "(-1, 3)", nil), "integer"},
		"pickled object": {npy("|O", "False", "(2,)", nil), "floating-point"},
		"unknown key":    {bytes.Replace(good, []byte("'shape'"), []byte("'shade'"), 1), "not known"},
		"no magic":       {[]byte("PK\x03\x04 something else"), "NUMPY"},
		"empty":          {nil, "NUMPY"},
		"version 9":      {append([]byte("\x93NUMPY\x09\x00"), good[8:]...), "version"},
	} {
		_, err := ReadNPY(bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", name, err, c.want)
		}
	}
}

func TestNPZ(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, v := range map[string]float32{"mel.npy": 7, "output.npy": 8} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(npy("<f4", "False", "(1,)", f32(binary.LittleEndian, v))); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()), "output")
	if err != nil || got.Values[0] != 8 || got.Name != "output" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()), ""); err == nil || !strings.Contains(err.Error(), "name one") {
		t.Errorf("without a member: %v", err)
	}
	broken := slices.Clone(b.Bytes())
	at := bytes.Index(broken, []byte("NUMPY"))
	broken[at+12] ^= 1
	if _, err := ReadNPZ(bytes.NewReader(broken), int64(len(broken)), "mel"); err == nil {
		if _, err = ReadNPZ(bytes.NewReader(broken), int64(len(broken)), "output"); err == nil {
			t.Error("a damaged archive was read")
		}
	}
}

func safe(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestSafetensors(t *testing.T) {
	data := f32(binary.LittleEndian, 1, 2, 3, 4, 5, 6)
	one := `{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}`
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := os.WriteFile(path, safe(one, data), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path, "")
	if err != nil || !slices.Equal(got.Values, six) || got.Name != "x" {
		t.Errorf("got %+v, %v", got, err)
	}
	// Names in any order and that differ in case only, an empty tensor, spaces behind the header.
	b := safe(`{"X":{"dtype":"F32","shape":[4],"data_offsets":[8,24]},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[0],"data_offsets":[24,24]}}  `, data)
	got, err = ReadSafetensors(bytes.NewReader(b), int64(len(b)), "X")
	if err != nil || !slices.Equal(got.Values, six[2:]) {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, c := range map[string]struct{ header, member, want string }{
		"past the end":  {`{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}}`, "", "lies at"},
		"backwards":     {`{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[24,0]}}`, "", "where it ends"},
		"wrong length":  {`{"x":{"dtype":"F32","shape":[2,4],"data_offsets":[0,24]}}`, "", "takes 32 bytes"},
		"integers":      {`{"x":{"dtype":"I32","shape":[6],"data_offsets":[0,24]}}`, "", "floating-point"},
		"twice":         {`{"x":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},"x":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}}`, "", "twice"},
		"other member":  {one, "y", `no tensor "y"`},
		"not an object": {`[]`, "", "no JSON object"},
		"cut off":       {`{"x":{"dtype":`, "", "malformed"},
		// What the format's own reader refuses: two readers must not see two tensors in the same bytes.
		"more behind":     {one + "x", "", "goes on behind"},
		"a second object": {one + one, "", "goes on behind"},
		"space in front":  {" " + one, "", "no JSON object"},
		"key twice":       {`{"x":{"dtype":"F16","dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}`, "", "duplicate key"},
		"another case":    {`{"x":{"DType":"F32","shape":[2,3],"data_offsets":[0,24]}}`, "", "unknown field"},
		"unknown key":     {`{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24],"strides":[1,2]}}`, "", "unknown field"},
		"no shape":        {`{"x":{"dtype":"F32","data_offsets":[0,24]}}`, "", "missing"},
		"one offset":      {`{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0]}}`, "", "where it ends"},
		"three offsets":   {`{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24,24]}}`, "", "where it ends"},
		"data behind":     {`{"x":{"dtype":"F32","shape":[5],"data_offsets":[0,20]}}`, "", "found 24"},
		"a hole":          {`{"x":{"dtype":"F32","shape":[5],"data_offsets":[4,24]}}`, "", "lies at"},
		"one in another":  {`{"x":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},"y":{"dtype":"F32","shape":[1],"data_offsets":[20,24]}}`, "x", "lies at"},
		"nothing":         {`{}`, "", "found 24"},
	} {
		b := safe(c.header, data)
		if _, err := ReadSafetensors(bytes.NewReader(b), int64(len(b)), c.member); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(npy("<f4", "False", "(2, 3)", f32(binary.LittleEndian, 1, 2, 3, 4, 5, 6)), ".npy")
	f.Add(npy("<f2", "True", "()", []byte{0, 60}), ".npy")
	f.Add(safe(`{"x":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, []byte{0, 63}), ".safetensors")
	f.Add([]byte("PK\x05\x06"+strings.Repeat("\x00", 18)), ".npz")
	f.Fuzz(func(t *testing.T, b []byte, kind string) {
		got, err := read(bytes.NewReader(b), int64(len(b)), "x"+kind, "")
		if err != nil {
			return
		}
		n := 1
		for _, d := range got.Shape {
			n *= d
		}
		if n != len(got.Values) {
			t.Fatalf("shape %v with %d values", got.Shape, len(got.Values))
		}
	})
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	for _, shape := range [][]int{{}, {6}, {2, 3}, {1, 2, 3}} {
		n := 1
		for _, d := range shape {
			n *= d
		}
		v := []float32{1, -2, 3.5, 4, 5, float32(math.Inf(1))}[:n]
		var b bytes.Buffer
		if err := WriteNPY(&b, shape, v); err != nil {
			t.Fatal(err)
		}
		if (b.Len()-4*n)%64 != 0 {
			t.Errorf("%v: the data begins at %d, not on a line of 64", shape, b.Len()-4*n)
		}
		got, err := ReadNPY(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || len(got.Shape) != len(shape) {
			t.Fatalf("%v: %v %v", shape, got, err)
		}
		for i := range v {
			if got.Values[i] != float64(v[i]) {
				t.Errorf("%v: value %d is %g", shape, i, got.Values[i])
			}
		}
	}
	if err := WriteNPY(&bytes.Buffer{}, []int{4}, []float32{1}); err == nil {
		t.Error("a shape that does not fit was written")
	}
}
