package artifact

import (
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// Producer is who made an artifact, as far as it says; "" where it does not.
type Producer struct {
	Converter        string `json:"converter,omitempty"`
	ConverterVersion string `json:"converter_version,omitempty"`
	Source           string `json:"source,omitempty"` // framework and version, such as torch==2.5.1
	SourceDialect    string `json:"source_dialect,omitempty"`
	// Compiler is coremlc or another one, with its version.
	Compiler        string `json:"compiler,omitempty"`
	CompilerVersion string `json:"compiler_version,omitempty"`
	// MILComponent is the version of coremlc's MIL component, which moves with Xcode.
	MILComponent string `json:"mil_component,omitempty"`
	// System is the one that the converter ran on, with its build, where whoever converted wrote it under [ExportedOn].
	System  string `json:"system,omitempty"`
	Author  string `json:"author,omitempty"`
	Version string `json:"version,omitempty"`
	// Known is false where neither converter nor compiler is stated.
	Known bool `json:"known"`
}

// ExportedOn is the key of the user-defined metadata for the system that a converter ran on, such as "macOS 15.7.7 (24G720)". No converter
// writes it by itself, and the same recipe gives another encoder on another system.
const ExportedOn = "coreml-gate.exported-on"

// ourWriter is the key, and the name, of this project's own writer.
const ourWriter = "coreml-gate.encoder-writer"

const ourCompiler = "coreml-gate-compiler"

// Portable says that the system made no difference: this project's writer and compiler give the same bytes on every one.
func (p Producer) Portable() bool {
	return p.Converter == ourWriter && (p.Compiler == "" || p.Compiler == ourCompiler)
}

func (p Producer) String() string {
	if !p.Known {
		return "unknown producer"
	}
	var parts []string
	for _, s := range [][2]string{{p.Converter, p.ConverterVersion}, {p.Source, ""}, {p.Compiler, p.CompilerVersion}} {
		if s[0] != "" {
			parts = append(parts, strings.TrimSpace(s[0]+" "+s[1]))
		}
	}
	if p.System != "" {
		parts = append(parts, "exported on "+p.System)
	}
	return strings.Join(parts, ", ")
}

// userMetadata is the user-defined metadata, wherever it stands.
func (e *encoder) userMetadata() map[string]string {
	m := map[string]string{}
	if e.art.Metadata != nil {
		for k, v := range e.art.Metadata.User {
			m[k] = v
		}
	}
	if d := e.art.Description; d != nil {
		for k, v := range d.Metadata.User {
			m[k] = v
		}
	}
	return m
}

func (e *encoder) producer() Producer {
	const prefix = "com.github.apple.coremltools."
	user := e.userMetadata()
	build := map[string]string{}
	if e.art.Program != nil {
		if v := mil.FindAttr(e.art.Program.Attrs, "buildInfo"); v != nil {
			for _, kv := range v.Pairs {
				k, _ := kv.Key.AsString()
				build[k], _ = kv.Val.AsString()
			}
		}
	}
	p := Producer{Source: user[prefix+"source"], SourceDialect: user[prefix+"source_dialect"], MILComponent: build["coremlc-component-MIL"]}
	if v := either(user[prefix+"version"], build["coremltools-version"]); v != "" {
		p.Converter, p.ConverterVersion = "coremltools", v
	}
	if p.Source == "" && build["coremltools-component-torch"] != "" {
		p.Source = "torch==" + build["coremltools-component-torch"]
	}
	p.SourceDialect = either(p.SourceDialect, build["coremltools-source-dialect"])
	if v := build["coremlc-version"]; v != "" {
		p.Compiler, p.CompilerVersion = "coremlc", v
	} else if v := build[ourCompiler]; v != "" {
		p.Compiler, p.CompilerVersion = ourCompiler, v
	}
	if v := user[ourWriter]; v != "" && p.Converter == "" {
		p.Converter, p.ConverterVersion = ourWriter, v
	}
	p.System = user[ExportedOn]
	if d := e.art.Description; d != nil {
		p.Author, p.Version = d.Metadata.Author, d.Metadata.Version
	}
	p.Known = p.Converter != "" || p.Compiler != ""
	if !p.Known && e.art.Kind == spec.MLProgram {
		e.fault(reason.ProducerUnknown, e.art.ModelFile, "a converter or compiler that names itself", "none")
	}
	if v, ok := strings.CutPrefix(p.Source, "torch=="); ok && newer(v, testedTorch) {
		e.fault(reason.TorchUntested, e.art.ModelFile, "torch "+testedTorch+" or older", "torch "+v)
	}
	return p
}

// testedTorch is _TORCH_MAX_VERSION of coremltools 9.0: above it coremltools
// warns that the version has not been tested.
const testedTorch = "2.7.0"

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
