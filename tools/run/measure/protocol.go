package measure

import (
	"fmt"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/policy"
)

// Protocol is a frozen policy of kind "measurement": how a number was made is part of the number.
type Protocol struct {
	Ref             ProtocolRef
	ColdRuns        int
	WarmRuns        int
	WarmUps         int
	Pairs           int
	Submissions     int
	Difference      float64
	SignTest        float64
	BusyShare       float64
	SustainedTime   float64
	SustainedWindow float64
	EnergyTime      float64
}

// DefaultProtocol is what sessions run under unless told otherwise.
const DefaultProtocol = "bench_v1"

// LoadProtocol reads a frozen protocol by name.
func LoadProtocol(name string) (*Protocol, error) {
	p, err := policy.Frozen(name)
	if err != nil {
		return nil, err
	}
	if p.Kind != "measurement" {
		return nil, fmt.Errorf("policy %s is of kind %q: expected a protocol, of kind measurement, such as %s", name, p.Kind, DefaultProtocol)
	}
	out := &Protocol{Ref: ProtocolRef{p.Name, p.SHA256}}
	whole := map[string]*int{"cold_runs": &out.ColdRuns, "warm_runs": &out.WarmRuns, "warm_ups": &out.WarmUps, "pairs_min": &out.Pairs, "submissions_min": &out.Submissions}
	for threshold, to := range whole {
		v, err := p.Threshold(threshold)
		if err != nil {
			return nil, err
		}
		if *to = int(v); float64(*to) != v || v < 1 {
			return nil, fmt.Errorf("policy %s: %s is %v, expected a whole number from 1", name, threshold, v)
		}
	}
	for threshold, to := range map[string]*float64{
		"difference_min": &out.Difference, "sign_test_max": &out.SignTest, "busy_share_max": &out.BusyShare, "sustained_seconds": &out.SustainedTime,
		"sustained_window_seconds": &out.SustainedWindow, "energy_seconds_min": &out.EnergyTime,
	} {
		if *to, err = p.Threshold(threshold); err != nil {
			return nil, err
		}
	}
	return out, nil
}
