package artifact

import (
	"fmt"
	"math"
	"slices"
)

// ranked is a view with its distance from what is looked for.
type ranked struct {
	match
	distance float64
	// span says whether the outermost values are the tensor's, as those of an even palette are, and apart how far the
	// values are from it. They tell forms apart that differ in their scale alone, which a palette of a few entries hides.
	span  bool
	apart float64
}

// best finds the view that agrees with a tensor in one of the forms, or the nearest one; a nil comparison where there
// is none that is near at all.
func (p *pairing) best(t *target, forms []*form) (match, *comparison, error) {
	var near match
	var nearest *comparison
	var unsupported error
	list, err := p.rank(t, forms)
	if err != nil {
		return near, nil, err
	}
	for i, r := range list {
		if i > 0 && (r.distance > farApart && r.view.w.op == nil || i == maxTries) {
			break
		}
		c, err := p.verify(t, r.view, r.form, i > 0)
		if isUnsupported(err) {
			unsupported = err
			continue
		}
		if err != nil {
			return match{}, nil, err
		}
		if c.ok() {
			return r.match, c, nil
		}
		if i == 0 {
			near, nearest = r.match, c // the others were compared in part only
		}
	}
	if nearest == nil {
		return near, nil, unsupported
	}
	return near, nearest, nil
}

// maxTries bounds the views that are compared whole.
const maxTries = 64

// rank sorts the views of a tensor's extents by how near their samples are. Of those that agree alike, one that no
// other tensor was matched with comes first.
func (p *pairing) rank(t *target, forms []*form) ([]ranked, error) {
	key := fmt.Sprint(t.shape)
	if !p.indexed[key] {
		// Pieces of tensors are looked for in no encoder that is known but those of other converters, so their views are made then.
		if err := p.index(p.unindexed()); err != nil {
			return nil, err
		}
	}
	var list []ranked
	want := make([]float32, len(t.samples))
	own := make([]float32, len(want)) // without the form's scale, so that forms are alike that differ in it alone
	for _, f := range forms {
		unscaled := *f
		unscaled.scale = 1
		for k, v := range t.samples {
			at := place(k, len(t.samples), t.n())
			want[k], own[k] = f.want(v, at), unscaled.want(v, at)
		}
		for _, v := range p.views[key] {
			r := ranked{match: match{target: t, view: v, form: f, count: 1}, apart: apart(want, v.samples)}
			r.distance = r.apart
			if v.w.op != nil {
				r.distance = min(r.distance, uncorrelated(own, v.samples))
				r.span = math.Abs(float64(t.low*f.scale-v.low))+math.Abs(float64(t.high*f.scale-v.high)) < float64(t.high-t.low)*float64(f.scale)/sameSpan
			}
			list = append(list, r)
		}
	}
	level(list)
	slices.SortStableFunc(list, func(a, b ranked) int {
		switch {
		case a.distance != b.distance:
			return int(math.Copysign(1, a.distance-b.distance))
		case a.span != b.span && a.span:
			return -1
		case a.span != b.span:
			return 1
		case a.apart != b.apart:
			return int(math.Copysign(1, a.apart-b.apart))
		case a.view.w.used != b.view.w.used && b.view.w.used:
			return -1
		case a.view.w.used != b.view.w.used:
			return 1
		}
		return 0
	})
	return list, nil
}

// unindexed are the extents of pieces of which no views were made.
func (p *pairing) unindexed() [][]int64 {
	return slices.DeleteFunc(p.pieces(), func(s []int64) bool { return p.indexed[fmt.Sprint(s)] })
}

// level gives the forms of one compressed view that differ in their scale alone the distance of the nearest, so that their
// span tells which comes first.
func level(list []ranked) {
	type key struct {
		view *view
		what string
	}
	nearest := map[key]float64{}
	for _, r := range list {
		k := key{r.view, r.form.what}
		if d, ok := nearest[k]; !ok || r.distance < d {
			nearest[k] = r.distance
		}
	}
	for i, r := range list {
		if r.view.w.op != nil {
			list[i].distance = nearest[key{r.view, r.form.what}]
		}
	}
}

// sameSpan is the part of a tensor's range that its outermost values may have been rounded by.
const sameSpan = 100

// apart is the distance of b from a, see distance.
func apart(a, b []float32) float64 {
	var d, s, sum float64
	for i := range a {
		if !same(a[i], b[i]) {
			x := float64(a[i]) - float64(b[i])
			d += x * x
		}
		s += float64(a[i]) * float64(a[i])
		sum += float64(a[i])
	}
	return distance(d, s, sum, int64(len(a)))
}

// uncorrelated is 0 for values of which one is the other times a factor, and √2 for those that have nothing to do
// with each other. Coarse palettes change the size of what they hold.
func uncorrelated(a, b []float32) float64 {
	var sa, sb, aa, bb, ab float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		sa, sb, aa, bb, ab = sa+x, sb+y, aa+x*x, bb+y*y, ab+x*y
	}
	n := float64(len(a))
	va, vb := aa-sa*sa/n, bb-sb*sb/n
	if va <= 0 || vb <= 0 {
		return math.Sqrt2
	}
	return math.Sqrt(max(0, 2-2*(ab-sa*sb/n)/math.Sqrt(va*vb)))
}
