package editdist

// An Op is the kind of an edit that turns the reference into the hypothesis.
type Op uint8

const (
	Equal      Op = iota // the same elements on both sides
	Substitute           // as many elements of the hypothesis in place of those of the reference
	Insert               // elements of the hypothesis that the reference lacks
	Delete               // elements of the reference that the hypothesis lacks
)

func (o Op) String() string {
	return [...]string{"equal", "substitute", "insert", "delete"}[o]
}

// A Chunk is a longest run of one operation: ref[RefStart:RefEnd] is aligned with hyp[HypStart:HypEnd].
type Chunk struct {
	Op       Op
	RefStart int
	RefEnd   int
	HypStart int
	HypEnd   int
}

// Counts are the numbers of elements in an alignment, by operation.
type Counts struct {
	Hits          int
	Substitutions int
	Insertions    int
	Deletions     int
}

// Edits is the distance: substitutions, insertions and deletions.
func (c Counts) Edits() int { return c.Substitutions + c.Insertions + c.Deletions }

// Reference is the number of elements on the reference side, Hypothesis that on the other.
func (c Counts) Reference() int  { return c.Hits + c.Substitutions + c.Deletions }
func (c Counts) Hypothesis() int { return c.Hits + c.Substitutions + c.Insertions }

// Add gives the sum of two counts.
func (c Counts) Add(d Counts) Counts {
	return Counts{
		Hits: c.Hits + d.Hits, Substitutions: c.Substitutions + d.Substitutions,
		Insertions: c.Insertions + d.Insertions, Deletions: c.Deletions + d.Deletions,
	}
}

// Count adds up the elements of an alignment.
func Count(chunks []Chunk) Counts {
	var c Counts
	for _, k := range chunks {
		switch k.Op {
		case Equal:
			c.Hits += k.RefEnd - k.RefStart
		case Substitute:
			c.Substitutions += k.RefEnd - k.RefStart
		case Insert:
			c.Insertions += k.HypEnd - k.HypStart
		case Delete:
			c.Deletions += k.RefEnd - k.RefStart
		}
	}
	return c
}

// Distance gives the least number of edits that turn ref into hyp.
func Distance[T comparable](ref, hyp []T) int {
	p := newProblem(ref, hyp)
	return p.distance(p.whole())
}

// Align gives an optimal alignment as chunks in order, covering both sides; nil when both are empty.
func Align[T comparable](ref, hyp []T) []Chunk {
	p := newProblem(ref, hyp)
	a := aligner{problem: p}
	a.align(p.whole(), max(len(ref), len(hyp)))
	return chunksOf(a.edits, len(ref), len(hyp))
}

// An edit is one element's edit at a position of both sides.
type edit struct {
	op       Op
	ref, hyp int32
}

// chunksOf joins edits that follow each other and fills the matches in between.
func chunksOf(edits []edit, refLen, hypLen int) []Chunk {
	var chunks []Chunk
	ref, hyp := 0, 0
	match := func(toRef, toHyp int) {
		if ref < toRef {
			chunks = append(chunks, Chunk{Equal, ref, toRef, hyp, toHyp})
			ref, hyp = toRef, toHyp
		}
	}
	for i := 0; i < len(edits); {
		e := edits[i]
		match(int(e.ref), int(e.hyp))
		c := Chunk{Op: e.op, RefStart: ref, HypStart: hyp}
		for i < len(edits) && edits[i].op == e.op && int(edits[i].ref) == ref && int(edits[i].hyp) == hyp {
			if e.op != Insert {
				ref++
			}
			if e.op != Delete {
				hyp++
			}
			i++
		}
		c.RefEnd, c.HypEnd = ref, hyp
		chunks = append(chunks, c)
	}
	match(refLen, hypLen)
	return chunks
}
