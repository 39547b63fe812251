package ggml

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Magic is the first four bytes of a model file, read as a little-endian u32.
const Magic = 0x67676d6c

// Bounds on what a file may ask for. They are far above any Whisper model and
// far below what would hurt.
const (
	maxTensors    = 1 << 16
	maxNameLength = 256
	maxTokens     = 1 << 20
	maxTokenBytes = 1 << 16
	maxVocabBytes = 64 << 20
	maxFilters    = 1 << 22
	maxRank       = 4
	maxDimension  = 1 << 24
)

// Hyperparameters is a model's header, in upstream's names. Counts, no units.
type Hyperparameters struct {
	Vocab      int // n_vocab: rows of the token embedding
	AudioCtx   int // n_audio_ctx: positions that the encoder puts out
	AudioState int // n_audio_state: width of the encoder
	AudioHead  int
	AudioLayer int
	TextCtx    int
	TextState  int
	TextHead   int
	TextLayer  int
	Mels       int // n_mels: mel bands that the encoder takes in
	FType      FType
	// QuantisationVersion is what upstream's quantiser wrote; 0 for plain files.
	QuantisationVersion int
}

// Multilingual reports whether upstream would treat the model as multilingual.
func (h Hyperparameters) Multilingual() bool { return h.Vocab >= 51865 }

// MelFrames is the width of the mel that the runtime hands to an encoder.
func (h Hyperparameters) MelFrames() int { return 2 * h.AudioCtx }

// Filters says where the mel filter bank stands: Rows (mel bands) of Columns
// (frequency bins) float32 values.
type Filters struct {
	Rows, Columns int
	offset        int64
}

// Tensor is one entry of the directory.
type Tensor struct {
	Name string
	Type Type
	// Dims are the extents in ggml's order, innermost first.
	Dims []int64
	// Offset and Size of the data in the file, in bytes.
	Offset, Size int64
}

// Shape is the extents in row-major order, outermost first.
func (t Tensor) Shape() []int64 {
	s := make([]int64, len(t.Dims))
	for i, d := range t.Dims {
		s[len(s)-1-i] = d
	}
	return s
}

// Elements is the number of values.
func (t Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Model is an open model file: its header and directory in memory, its data in
// the file. It is safe for concurrent use.
type Model struct {
	Hyperparameters Hyperparameters
	Filters         Filters
	// TokenCount is the number of tokens that the file spells out; upstream
	// makes up the rest, to n_vocab.
	TokenCount int
	// Tensors, in the order of the file.
	Tensors []Tensor
	// Size of the file in bytes.
	Size int64

	r          io.ReaderAt
	closer     io.Closer
	vocabStart int64
	vocabEnd   int64
	index      map[string]int
}

// Open opens the model file at path. The caller closes it.
func Open(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("open model %s: %w", path, notGGML("a folder", describeFolder(path)))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open model %s: %w", path,
			notGGML("not a regular file", "expected a regular file, found "+info.Mode().Type().String()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	// The size is taken from the open file, so that a path that was swapped
	// in between cannot make the two disagree.
	info, err = f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open model: %w", err)
	}
	m, err := Read(f, info.Size())
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open model %s: %w", path, err)
	}
	m.closer = f
	return m, nil
}

// Close closes the file that Open opened.
func (m *Model) Close() error {
	if m.closer == nil {
		return nil
	}
	return m.closer.Close()
}

// Tensor finds a tensor by name.
func (m *Model) Tensor(name string) (Tensor, bool) {
	i, ok := m.index[name]
	if !ok {
		return Tensor{}, false
	}
	return m.Tensors[i], true
}

// TestStub reports whether the file is one of upstream's for-tests-ggml-*
// files (or like them): header and vocabulary with no tensors at all. Upstream
// loads such a file with a warning and transcribes nothing.
func (m *Model) TestStub() bool { return len(m.Tensors) == 0 }

// Read reads the header and the directory of a model of size bytes.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	m := &Model{r: r, Size: size, index: map[string]int{}}
	c := &cursor{r: r, size: size}
	if err := m.readHeader(c); err != nil {
		return nil, err
	}
	if err := m.readFilters(c); err != nil {
		return nil, err
	}
	if err := m.readVocabulary(c); err != nil {
		return nil, err
	}
	for c.at < size {
		if len(m.Tensors) == maxTensors {
			return nil, malformed(c.at, "more than %d tensors", maxTensors)
		}
		t, err := readTensor(c)
		if err != nil {
			return nil, err
		}
		if _, dup := m.index[t.Name]; dup {
			return nil, malformed(t.Offset, "tensor %q stands in the file twice", t.Name)
		}
		m.index[t.Name] = len(m.Tensors)
		m.Tensors = append(m.Tensors, t)
	}
	return m, nil
}

func (m *Model) readHeader(c *cursor) error {
	var head [512]byte
	n, err := m.r.ReadAt(head[:min(int64(len(head)), m.Size)], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read header: %w", err)
	}
	if n < 4 || binary.LittleEndian.Uint32(head[:]) != Magic {
		looks := looksLike(head[:n])
		return notGGML(looks, fmt.Sprintf("expected the magic number 0x%08x in the first four bytes, found %s",
			uint32(Magic), describeHead(head[:n], looks)))
	}
	c.at = 4
	h := &m.Hyperparameters
	var ftype int
	for _, f := range []struct {
		name string
		to   *int
		max  int
	}{
		{"n_vocab", &h.Vocab, maxTokens}, {"n_audio_ctx", &h.AudioCtx, 1 << 20},
		{"n_audio_state", &h.AudioState, 1 << 16}, {"n_audio_head", &h.AudioHead, 1 << 10},
		{"n_audio_layer", &h.AudioLayer, 1 << 10}, {"n_text_ctx", &h.TextCtx, 1 << 20},
		{"n_text_state", &h.TextState, 1 << 16}, {"n_text_head", &h.TextHead, 1 << 10},
		{"n_text_layer", &h.TextLayer, 1 << 10}, {"n_mels", &h.Mels, 1 << 12},
		{"ftype", &ftype, 1 << 20},
	} {
		at := c.at
		v, err := c.i32("header field " + f.name)
		if err != nil {
			return err
		}
		if v < 0 || (v == 0 && f.name != "ftype") || int(v) > f.max {
			return malformed(at, "header field %s is %d, expected 1 to %d", f.name, v, f.max)
		}
		*f.to = int(v)
	}
	h.QuantisationVersion = ftype / quantisationVersionFactor
	h.FType = FType(ftype % quantisationVersionFactor)
	if _, ok := h.FType.Type(); !ok {
		return malformed(44, "header field ftype is %d, which names no type of matrix", ftype)
	}
	return nil
}

func (m *Model) readFilters(c *cursor) error {
	rows, err := c.i32("number of mel filter rows")
	if err != nil {
		return err
	}
	cols, err := c.i32("number of mel filter columns")
	if err != nil {
		return err
	}
	if rows <= 0 || cols <= 0 || int64(rows)*int64(cols) > maxFilters {
		return malformed(c.at, "mel filter bank of %d rows and %d columns", rows, cols)
	}
	m.Filters = Filters{Rows: int(rows), Columns: int(cols), offset: c.at}
	return c.skip(4*int64(rows)*int64(cols), "mel filters")
}

func (m *Model) readVocabulary(c *cursor) error {
	n, err := c.i32("number of tokens")
	if err != nil {
		return err
	}
	if n < 0 || int64(n) > maxTokens {
		return malformed(c.at, "vocabulary of %d tokens, expected 0 to %d", n, maxTokens)
	}
	m.TokenCount, m.vocabStart = int(n), c.at
	end, err := scanTokens(m.r, c.at, m.Size, int(n), nil)
	if err != nil {
		return err
	}
	m.vocabEnd, c.at = end, end
	return nil
}

// scanTokens walks n tokens from offset at, gives each to visit (if any; the
// slice is only valid during the call) and returns the offset behind them.
func scanTokens(r io.ReaderAt, at, size int64, n int, visit func([]byte)) (int64, error) {
	b := bufio.NewReaderSize(io.NewSectionReader(r, at, min(size-at, maxVocabBytes)), 1<<16)
	var word [4]byte
	buf := make([]byte, 0, 256)
	for i := range n {
		if _, err := io.ReadFull(b, word[:]); err != nil {
			return 0, shortRead(err, at, fmt.Sprintf("length of token %d of %d", i, n))
		}
		length := binary.LittleEndian.Uint32(word[:])
		if length > maxTokenBytes {
			return 0, malformed(at, "token %d is %d bytes long, expected at most %d", i, length, maxTokenBytes)
		}
		buf = append(buf[:0], make([]byte, length)...)
		if _, err := io.ReadFull(b, buf); err != nil {
			return 0, shortRead(err, at, fmt.Sprintf("token %d of %d", i, n))
		}
		if visit != nil {
			visit(buf)
		}
		at += 4 + int64(length)
	}
	return at, nil
}

func readTensor(c *cursor) (Tensor, error) {
	start := c.at
	var word [3]int32
	if left := c.size - c.at; left < int64(4*len(word)) {
		return Tensor{}, truncated(c.at, "tensor header needs %d bytes, %d are left: a tensor was cut off, or something was added behind the last one", 4*len(word), left)
	}
	for i, what := range []string{"rank", "length of the name", "type"} {
		v, err := c.i32("tensor header (" + what + ")")
		if err != nil {
			return Tensor{}, err
		}
		word[i] = v
	}
	rank, nameLength, typ := word[0], word[1], Type(word[2])
	if rank < 0 || rank > maxRank {
		return Tensor{}, malformed(start, "tensor of rank %d, expected 0 to %d", rank, maxRank)
	}
	if nameLength <= 0 || nameLength > maxNameLength {
		return Tensor{}, malformed(start, "tensor name of %d bytes, expected 1 to %d", nameLength, maxNameLength)
	}
	info, ok := typ.Info()
	if !ok {
		return Tensor{}, malformed(start, "tensor of type %d, which is not a ggml type", typ)
	}
	t := Tensor{Type: typ, Dims: make([]int64, rank)}
	elements := int64(1)
	for i := range t.Dims {
		d, err := c.i32("tensor extent")
		if err != nil {
			return Tensor{}, err
		}
		if d <= 0 || d > maxDimension || elements > 1<<40/int64(d) {
			return Tensor{}, malformed(start, "tensor extent %d of dimension %d is out of bounds", d, i)
		}
		t.Dims[i] = int64(d)
		elements *= int64(d)
	}
	name, err := c.bytes(int(nameLength), "tensor name")
	if err != nil {
		return Tensor{}, err
	}
	t.Name = string(name)
	if !printable(t.Name) {
		return Tensor{}, malformed(start, "tensor name %q holds bytes that are not printable ASCII", t.Name)
	}
	if info.Block > 1 && (rank == 0 || t.Dims[0]%info.Block != 0) {
		return Tensor{}, malformed(start, "tensor %s of type %s has rows of %v values, expected a multiple of %d",
			t.Name, typ, t.Dims, info.Block)
	}
	t.Offset, t.Size = c.at, elements/info.Block*info.BlockBytes
	return t, c.skip(t.Size, fmt.Sprintf("data of tensor %s (%s %v)", t.Name, typ, t.Shape()))
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
