package eval

import (
	"fmt"
	"slices"
	"sort"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/kernel"
)

// finish lays values out in memory and returns the plan.
func (b *builder) finish(o Options) (*Plan, error) {
	for i, n := range b.results {
		b.results[i] = b.dense(&call{op: noOp}, n)
	}
	p := &Plan{Outputs: b.outputs, Warnings: b.warnings, steps: b.steps, inputs: b.inputs, outputs: b.results,
		pool: kernel.NewPool(o.Threads), late: o.Late}
	for _, n := range b.inputs {
		p.Inputs = append(p.Inputs, feature(n.name, n))
	}
	if !o.KeepAll {
		p.steps = follow(fuse(p.steps, p.outputs), p.outputs)
	}
	p.number()
	p.place()
	if p.need > o.limit() {
		return nil, fmt.Errorf("the program's values need %d bytes at once, more than the limit of %d", p.need, o.limit())
	}
	return p, nil
}

// number gives each root its slot and its first and last step.
func (p *Plan) number() {
	seen := map[*node]bool{}
	add := func(n *node, at int) {
		r := n.root
		if !seen[r] {
			seen[r] = true
			r.slot = len(p.nodes)
			r.first = at
			p.nodes = append(p.nodes, r)
		}
		r.last = max(r.last, at)
	}
	for _, n := range p.inputs {
		add(n, 0)
	}
	for i, s := range p.steps {
		for _, n := range slices.Concat(s.ins, s.outs) {
			add(n, i)
		}
	}
	for _, n := range p.outputs {
		add(n, len(p.steps))
	}
}

// place gives values that are never alive together the same memory: the largest
// first, each at the lowest place that is free for its whole life.
func (p *Plan) place() {
	var live []*node
	for _, n := range p.nodes {
		if n.constant == nil && n.late == nil && !n.input {
			live = append(live, n)
		}
	}
	sort.SliceStable(live, func(i, j int) bool { return live[i].bytes > live[j].bytes })
	var placed []*node // by place
	for _, n := range live {
		at := 0
		for _, q := range placed {
			if q.last < n.first || n.last < q.first {
				continue
			}
			if at+round64(n.bytes) <= q.at {
				break
			}
			at = max(at, q.at+round64(q.bytes))
		}
		n.at = at
		i, _ := slices.BinarySearchFunc(placed, at, func(q *node, at int) int { return q.at - at })
		placed = slices.Insert(placed, i, n)
		p.need = max(p.need, at+round64(n.bytes))
	}
}

func round64(n int) int { return (n + 63) &^ 63 }
