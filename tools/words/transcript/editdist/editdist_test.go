package editdist

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlign(t *testing.T) {
	tests := []struct {
		name, ref, hyp string
		want           []Chunk
	}{
		{"both empty", "", "", nil},
		{"empty reference", "", "ab", []Chunk{{Insert, 0, 0, 0, 2}}},
		{"empty hypothesis", "ab", "", []Chunk{{Delete, 0, 2, 0, 0}}},
		{"equal", "abc", "abc", []Chunk{{Equal, 0, 3, 0, 3}}},
		{"two substitutions make one chunk", "abcd", "axyd", []Chunk{{Equal, 0, 1, 0, 1}, {Substitute, 1, 3, 1, 3}, {Equal, 3, 4, 3, 4}}},
		{"a swap is an insertion and a deletion", "ab", "ba", []Chunk{{Insert, 0, 0, 0, 1}, {Equal, 0, 1, 1, 2}, {Delete, 1, 2, 2, 2}}},
		{"a deletion is taken as late as it can be", "aab", "ab", []Chunk{{Equal, 0, 1, 0, 1}, {Delete, 1, 2, 1, 1}, {Equal, 2, 3, 1, 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Align([]byte(tt.ref), []byte(tt.hyp))); diff != "" {
				t.Errorf("alignment differs (-want +got):\n%s", diff)
			}
		})
	}
}

// naive is the textbook recurrence.
func naive[T comparable](ref, hyp []T) int {
	row := make([]int, len(hyp)+1)
	for j := range row {
		row[j] = j
	}
	for i := range ref {
		diagonal := row[0]
		row[0] = i + 1
		for j := range hyp {
			d := diagonal
			if ref[i] != hyp[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, diagonal+1)
		}
	}
	return row[len(hyp)]
}

// check compares an alignment with what it must be: complete, in order, true to both sides, and as short as the
// recurrence says.
func check[T comparable](t *testing.T, ref, hyp []T) {
	t.Helper()
	want := naive(ref, hyp)
	if got := Distance(ref, hyp); got != want {
		t.Errorf("distance %d, want %d", got, want)
	}
	if got := Distance(hyp, ref); got != want {
		t.Errorf("distance the other way %d, want %d", got, want)
	}
	chunks := Align(ref, hyp)
	r, h, last := 0, 0, Op(255)
	for _, c := range chunks {
		if c.RefStart != r || c.HypStart != h || c.Op == last {
			t.Fatalf("chunk %+v does not follow %d, %d", c, r, h)
		}
		m, n := c.RefEnd-c.RefStart, c.HypEnd-c.HypStart
		ok := map[Op]bool{Equal: m == n && m > 0, Substitute: m == n && m > 0, Insert: m == 0 && n > 0, Delete: m > 0 && n == 0}[c.Op]
		if !ok || c.Op == Equal && !slices.Equal(ref[r:c.RefEnd], hyp[h:c.HypEnd]) {
			t.Fatalf("chunk %+v does not fit the sides", c)
		}
		for k := range m {
			if c.Op == Substitute && ref[r+k] == hyp[h+k] {
				t.Fatalf("chunk %+v substitutes equal elements", c)
			}
		}
		r, h, last = c.RefEnd, c.HypEnd, c.Op
	}
	if r != len(ref) || h != len(hyp) {
		t.Fatalf("chunks end at %d, %d, want %d, %d", r, h, len(ref), len(hyp))
	}
	if got := Count(chunks).Edits(); got != want {
		t.Errorf("alignment of %d edits, want %d", got, want)
	}
}

// similar makes a sequence and a copy with a share of its elements edited.
func similar(r *rand.Rand, n, alphabet int, share float64) (ref, hyp []int) {
	for range n {
		x := r.IntN(alphabet)
		ref = append(ref, x)
		switch p := r.Float64() / share; {
		case p < 0.3:
		case p < 0.6:
			hyp = append(hyp, r.IntN(alphabet))
		case p < 1:
			hyp = append(hyp, x, r.IntN(alphabet))
		default:
			hyp = append(hyp, x)
		}
	}
	return ref, hyp
}

func TestAgainstRecurrence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 63, 64, 65, 127, 128, 129, 300} {
		for _, alphabet := range []int{1, 2, 4, 50} {
			for _, share := range []float64{0.02, 0.2, 0.9} {
				ref, hyp := similar(r, n, alphabet, share)
				check(t, ref, hyp)
				check(t, hyp, ref)
			}
		}
	}
}

// Sizes at which the problem is divided, and bands are narrow.
func TestDivided(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, share := range []float64{0.01, 0.1, 0.5, 1} {
		ref, hyp := similar(r, 2500, 400, share)
		check(t, ref, hyp)
	}
	ref, _ := similar(r, 2100, 3, 1)
	hyp, _ := similar(r, 2300, 3, 1)
	check(t, ref, hyp)
	check(t, ref, ref[700:])
	check(t, ref[:66], slices.Repeat(hyp, 30))
}

func FuzzAlign(f *testing.F) {
	f.Add([]byte("kitten"), []byte("sitting"))
	f.Add([]byte(""), []byte("a"))
	f.Add(slices.Repeat([]byte("ab"), 50), slices.Repeat([]byte("ba"), 60))
	f.Fuzz(func(t *testing.T, ref, hyp []byte) {
		check(t, ref[:min(len(ref), 400)], hyp[:min(len(hyp), 400)])
	})
}

// BenchmarkTenThousand aligns ten thousand words with a noisy copy, and with unrelated ones.
func BenchmarkTenThousand(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	ref, near := similar(r, 10000, 3000, 0.1)
	far, _ := similar(r, 10000, 3000, 1)
	for name, hyp := range map[string][]int{"near": near, "far": far} {
		b.Run("distance-"+name, func(b *testing.B) {
			for b.Loop() {
				Distance(ref, hyp)
			}
		})
		b.Run("align-"+name, func(b *testing.B) {
			for b.Loop() {
				Align(ref, hyp)
			}
		})
	}
}
