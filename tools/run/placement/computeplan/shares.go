package computeplan

import "math"

// Share is what a plan gives to one device.
type Share struct {
	Device     Device
	Operations int
	// Weight is the share of the estimated cost, 0 to 1; NaN where no operation of the plan has a cost.
	Weight float64
}

// Placed are the operations that have a device, in program order: constants are left out.
func (p *Plan) Placed() []*Operation {
	var out []*Operation
	for i := range p.Operations {
		if p.Operations[i].Preferred != nil {
			out = append(out, &p.Operations[i])
		}
	}
	return out
}

// Shares are what the plan gives to each kind of device, in the order of [Devices]. Their weights add up to 1, unless no
// operation has a cost: Core ML was seen to give a cost of zero to every operation of a model that stays on the processor.
func (p *Plan) Shares() []Share {
	out := make([]Share, len(Devices))
	total := 0.0
	for i, d := range Devices {
		out[i].Device = d
		for _, o := range p.Placed() {
			if *o.Preferred != d {
				continue
			}
			out[i].Operations++
			if o.Weight != nil {
				out[i].Weight += *o.Weight
			}
		}
		total += out[i].Weight
	}
	for i := range out {
		if total > 0 {
			out[i].Weight /= total
		} else {
			out[i].Weight = math.NaN()
		}
	}
	return out
}

// ShareOf is what the plan gives to one kind of device.
func (p *Plan) ShareOf(d Device) Share {
	for _, s := range p.Shares() {
		if s.Device == d {
			return s
		}
	}
	return Share{Device: d, Weight: math.NaN()}
}

// Unweighed are the operations on other devices than the given one that have no cost: any share of the work could be theirs.
// Operations without a cost on the device itself make its share smaller, never larger.
func (p *Plan) Unweighed(d Device) []*Operation {
	var out []*Operation
	for _, o := range p.Placed() {
		if *o.Preferred != d && o.Weight == nil {
			out = append(out, o)
		}
	}
	return out
}

// Break is a run of operations on other devices between two chains of operations on one device: data leaves the device and comes back.
type Break struct {
	Operations []*Operation
	// After and Before are the layers of the device on either side.
	After, Before string
}

// Breaks are the breaks of the chain on a device, in program order. What runs elsewhere before the first or after the last operation
// on the device breaks no chain.
func (p *Plan) Breaks(d Device) []Break {
	var out []Break
	var last *Operation // on the device
	var off []*Operation
	for _, o := range p.Placed() {
		if *o.Preferred != d {
			off = append(off, o)
			continue
		}
		if last != nil && len(off) > 0 {
			out = append(out, Break{off, last.Layer(), o.Layer()})
		}
		last, off = o, nil
	}
	return out
}
