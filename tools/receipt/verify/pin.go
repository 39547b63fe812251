package verify

import (
	"sync"

	"github.com/coreml-gate/rules_coreml_gate/third_party/whisper_cpp/pins"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/statement"
	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/pin"
)

// supported is the supported pin, as this program knows it.
var supported = sync.OnceValues(func() (pin.Identity, error) {
	known, err := supportedEntry()
	if err != nil {
		return pin.Identity{}, err
	}
	return known.Pin.Identity(), nil
})

var supportedEntry = sync.OnceValues(func() (*pins.Entry, error) { return pins.Load(pins.Names()[0]) })

// sourceFiles demands of the supported pin that all its files were hashed, the patched one once or twice (as patched,
// and as upstream has it).
func (r *Result) sourceFiles(p *statement.Predicate) error {
	known, err := supportedEntry()
	if err != nil || !p.Pin.Supported || p.Verdict != reason.Pass {
		return err
	}
	for _, j := range p.Judgements {
		if j.Name != statement.Sources {
			continue
		}
		f := verdict.ReadFacts(j)
		f.Count(verdict.FactSourceFiles, len(known.Manifest), len(known.Manifest)+1)
		r.AddAll(f.Wrong)
	}
	return nil
}

// demandCommit holds the builder's word that its pin is the supported one against the commit that this
// program knows. A pin that may be unsupported may still not call itself supported.
func (r *Result) demandCommit(where string, found pin.Identity, d Demands) error {
	known, err := supported()
	if err != nil {
		return err
	}
	switch {
	case !found.Supported && !d.AllowUnsupportedPin:
		r.Addf(reason.PinDemanded, where, "the supported pin", "%s (%s)", found.Name, found.Commit)
	case found.Supported && (found.Commit != known.Commit || found.Name != known.Name):
		r.Addf(reason.PinDemanded, where, "the supported pin, "+known.Name+" ("+known.Commit+")", "%s (%s), which calls itself supported", found.Name, found.Commit)
	}
	return nil
}

// demandPin is demandCommit, and holds what else the pin says against the files of the supported one: a
// manifest that was edited under its commit is another pin.
func (r *Result) demandPin(where string, found pin.Identity, d Demands) error {
	if err := r.demandCommit(where, found, d); err != nil || !found.Supported {
		return err
	}
	want, err := supported()
	if err != nil {
		return err
	}
	for _, member := range []struct{ name, want, found string }{
		{"tree", want.Tree, found.Tree},
		{"manifest_sha256", want.ManifestSHA256, found.ManifestSHA256},
		{"patch.label", want.Patch.Label, found.Patch.Label},
		{"patch.sha256", want.Patch.SHA256, found.Patch.SHA256},
		{"patched_file.path", want.PatchedFile.Path, found.PatchedFile.Path},
		{"patched_file.sha256", want.PatchedFile.SHA256, found.PatchedFile.SHA256},
	} {
		if member.found != member.want {
			r.Addf(reason.PinDemanded, where+"."+member.name, member.want, "%s in a pin that calls itself supported", member.found)
		}
	}
	return nil
}
