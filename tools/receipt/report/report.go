// Package report turns a receipt, and what else is at hand about a gate, into something to read: one
// self-contained HTML page, JUnit XML for build servers, or a short text for logs.
//
// The page needs no network and no script. It shows what was given and says what was not; figures
// that were measured on another machine, such as those of a cached action, bear the label "measured
// elsewhere". Nothing in it is a judgement of its own.
package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
)

// Data is what a report is made from. Everything but the receipt may be missing.
type Data struct {
	Receipt *statement.Statement
	// SHA256 of the receipt's canonical bytes.
	SHA256 string
	// Signature says what is known about it, in plain words.
	Signature string
	// Evidence and Observations of the gate's runs, by kind.
	Evidence     map[evidence.Kind]*evidence.Evidence
	Observations map[evidence.Kind]*evidence.Observations
	// Reference words of a public fixture.
	Reference string
	// Parity is a measurement, frame by frame.
	Parity *Parity
	// Plan is the compute plan that the placement judgement was made from, operation by operation.
	Plan *computeplan.Plan
	// Machine is this machine's id (runner.MachineID), by which "measured elsewhere" is told.
	Machine string
	// Explain finds what a code means.
	Explain func(code string) (reason.Definition, bool)
}

// Parity is what the plot of the numbers needs, from what coregate parity --json prints.
type Parity struct {
	Policy   string
	FrameSNR []float64
	SNR      float64
	Cosine   float64
	// Limit is the policy's snr_db_min, 0 where it is not known.
	Limit float64
}

// ParseParity reads what coregate parity --json printed.
func ParseParity(data []byte) (*Parity, error) {
	in := struct {
		Facts struct {
			Policy      string `json:"policy"`
			Measurement *struct {
				SNR      float64   `json:"snr_db"`
				Cosine   float64   `json:"cosine"`
				FrameSNR []float64 `json:"frame_snr_db"`
			} `json:"measurement"`
		} `json:"facts"`
	}{}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("parity: %w", err)
	}
	m := in.Facts.Measurement
	if m == nil {
		return nil, fmt.Errorf("parity: no measurement: expected what coregate parity --json prints")
	}
	return &Parity{Policy: in.Facts.Policy, SNR: m.SNR, Cosine: m.Cosine, FrameSNR: m.FrameSNR}, nil
}

// maxDecibels bounds what is taken for a ratio: that of float64's largest value to its smallest has 12,000.
const maxDecibels = 100_000

// AddParity adds a measurement, which must be of the receipt's model and encoder.
func (d *Data) AddParity(data []byte) error {
	about := struct {
		Facts map[string]any `json:"facts"`
	}{}
	if err := json.Unmarshal(data, &about); err != nil {
		return fmt.Errorf("parity: %w", err)
	}
	for fact, subject := range map[string]string{verdict.FactModel: statement.SubjectModel, verdict.FactEncoder: statement.SubjectEncoder} {
		if want := d.Receipt.Digest(subject); about.Facts[fact] != want {
			return fmt.Errorf("parity: it was measured with %s %v, but the receipt is about %s", fact, about.Facts[fact], want)
		}
	}
	p, err := ParseParity(data)
	if err != nil {
		return err
	}
	for i, v := range p.FrameSNR {
		if math.Abs(v) > maxDecibels {
			return fmt.Errorf("parity: frame %d has %g dB, which is not a ratio of signals", i, v)
		}
	}
	d.Parity = p
	return nil
}

// AddReference adds the reference words, which must be those that the receipt names.
func (d *Data) AddReference(text []byte) error {
	if sum, want := evidence.SHA256(text), d.Receipt.Digest(statement.MaterialReference); sum != want {
		return fmt.Errorf("reference words %s, but the receipt names %s", sum, want)
	}
	d.Reference = string(text)
	return nil
}

// Add sorts a file into the data: evidence or observations of a run of the receipt. It says what it was.
func (d *Data) Add(data []byte) (string, error) {
	if e, err := evidence.Decode(data); err == nil {
		if !d.names(evidence.SHA256(data)) {
			return "", fmt.Errorf("evidence %s is not named by the receipt", evidence.SHA256(data))
		}
		d.Evidence[e.Kind] = e
		return "evidence of the " + string(e.Kind) + " run", nil
	}
	o, err := evidence.DecodeObservations(data)
	if err != nil {
		return "", fmt.Errorf("neither evidence nor observations: %w", err)
	}
	i := slices.IndexFunc(d.Receipt.Predicate.Evidence, func(ref statement.EvidenceRef) bool { return ref.SHA256 == o.EvidenceSHA256 })
	if i < 0 {
		return "", fmt.Errorf("observations of evidence %s, which the receipt does not name", o.EvidenceSHA256)
	}
	kind := d.Receipt.Predicate.Evidence[i].Kind
	d.Observations[kind] = o
	return "observations of the " + string(kind) + " run", nil
}

func (d *Data) names(sum string) bool {
	return slices.ContainsFunc(d.Receipt.Predicate.Evidence, func(ref statement.EvidenceRef) bool { return ref.SHA256 == sum })
}

// New begins a report on a receipt.
func New(s *statement.Statement) (*Data, error) {
	bytes, err := statement.Encode(s)
	if err != nil {
		return nil, err
	}
	return &Data{
		Receipt: s, SHA256: evidence.SHA256(bytes), Signature: "not looked at",
		Evidence: map[evidence.Kind]*evidence.Evidence{}, Observations: map[evidence.Kind]*evidence.Observations{},
		Explain: func(string) (reason.Definition, bool) { return reason.Definition{}, false },
	}, nil
}

// kinds are the runs in the order of a report.
var kinds = []evidence.Kind{evidence.KindCoreML, evidence.KindCanary, evidence.KindContrast}
