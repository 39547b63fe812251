package verify

import (
	"fmt"
	"io"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/regular"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
)

// archive checks the receipt of a module's archive: its form, and that each file given is that archive. No run stands behind it,
// so what is demanded of runs cannot be.
func (r *Result) archive(payload []byte, d Demands, f Files) error {
	s, err := modulearchive.Decode(payload)
	if err != nil {
		r.Addf(reason.ReceiptMalformed, "payload", "the receipt of a module's archive in canonical form", "%v", err)
		return nil
	}
	others := f
	others.Others = nil
	if d.Profile != statement.ProfileRelease || d.Lane != "" || d.OSBuild != "" || d.MaxAge != 0 || len(d.Policies)+len(d.Judgements) > 0 || d.AllowUnsupportedPin || !others.none() {
		return fmt.Errorf("this is the receipt of the archive %s: nothing was run for it, and only --file ARCHIVE is compared with it", s.Subject[0].Name)
	}
	r.Facts["module"], r.Facts["version"], r.Facts["files"] = s.Predicate.Module, s.Predicate.Version, len(s.Predicate.Files)
	r.Facts[s.Subject[0].Name] = s.Digest()
	for _, path := range f.Others {
		data, err := readArchive(path)
		if err != nil {
			return err
		}
		r.AddAll(s.Compare(data, path))
	}
	if len(f.Others) == 0 {
		r.Unchecked = append(r.Unchecked, "the archive, which was not given (--file)")
	}
	return nil
}

// none says that nothing is at hand.
func (f Files) none() bool {
	return f.CLI+f.Model+f.Encoder+f.Release+f.Reference+f.Words+f.Mel+f.Plan+f.Recording == "" && len(f.Others)+len(f.Evidence) == 0 && !f.AsSigned
}

func readArchive(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, modulearchive.MaxBytes+1))
	if err == nil && len(data) > modulearchive.MaxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, modulearchive.MaxBytes)
	}
	return data, err
}
