package evidence

import (
	"fmt"
	"slices"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// EncodeObservations returns the canonical bytes of o.
func EncodeObservations(o *Observations) ([]byte, error) { return strictjson.Canonical(o) }

// DecodeObservations reads the bytes of an observations.json.
func DecodeObservations(data []byte) (*Observations, error) {
	o := &Observations{}
	if err := strictjson.DecodeCanonical(data, o); err != nil {
		return nil, fmt.Errorf("observations: %w", err)
	}
	if o.Schema != Schema {
		return nil, fmt.Errorf("observations: schema is %d, expected %d", o.Schema, Schema)
	}
	if !hexDigest.MatchString(o.EvidenceSHA256) {
		return nil, fmt.Errorf("observations: evidence_sha256 is %q, expected 64 hexadecimal digits in lower case", o.EvidenceSHA256)
	}
	if t, err := time.Parse(time.RFC3339, o.StartedAt); err != nil || t.UTC().Format(time.RFC3339) != o.StartedAt {
		return nil, fmt.Errorf("observations: started_at is %q, expected RFC 3339 in UTC", o.StartedAt)
	}
	figures := append([]float64{o.WallSeconds, o.UserSeconds, o.SystemSeconds, float64(o.PeakResidentBytes), float64(o.RawStderrBytes), float64(o.RawStdoutBytes)}, o.WarmUpSeconds...)
	for _, v := range o.Timings {
		figures = append(figures, v)
	}
	if slices.Min(figures) < 0 {
		return nil, fmt.Errorf("observations: a time or a size is below zero")
	}
	return o, nil
}
