package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

const metadataName = "metadata.json"

// Metadata is metadata.json of a compiled model: an array of one object. It
// repeats what program and description say, for tools, and ranks below both.
// Unknown keys are ignored when read and not kept.
type Metadata struct {
	OutputVersion        string            `json:"metadataOutputVersion"`
	Doc                  string            `json:"shortDescription,omitempty"`
	Version              string            `json:"version,omitempty"`
	Author               string            `json:"author,omitempty"`
	License              string            `json:"license,omitempty"`
	StoragePrecision     string            `json:"storagePrecision,omitempty"`
	Outputs              []MetadataFeature `json:"outputSchema"`
	ModelParameters      []json.RawMessage `json:"modelParameters"`
	SpecificationVersion int32             `json:"specificationVersion"`
	// Histogram counts operations by kind, constants left out.
	Histogram        map[string]int     `json:"mlProgramOperationTypeHistogram,omitempty"`
	ComputePrecision string             `json:"computePrecision,omitempty"`
	IsUpdatable      string             `json:"isUpdatable"`
	States           []MetadataFeature  `json:"stateSchema,omitempty"`
	Availability     map[string]string  `json:"availability,omitempty"`
	ModelType        MetadataType       `json:"modelType"`
	User             map[string]string  `json:"userDefinedMetadata"`
	Inputs           []MetadataFeature  `json:"inputSchema"`
	Functions        []MetadataFunction `json:"functions,omitempty"`
	DefaultFunction  string             `json:"defaultFunctionName,omitempty"`
	ClassName        string             `json:"generatedClassName"`
	Method           string             `json:"method"`
}

// MetadataType names the kind of model, such as MLModelType_mlProgram.
type MetadataType struct {
	Name string `json:"name"`
}

// MetadataFeature is an input, output or state; every value is a string.
type MetadataFeature struct {
	HasShapeFlexibility string `json:"hasShapeFlexibility"`
	IsOptional          string `json:"isOptional"`
	DataType            string `json:"dataType,omitempty"`
	FormattedType       string `json:"formattedType"`
	Doc                 string `json:"shortDescription"`
	ShapeFlexibility    string `json:"shapeFlexibility,omitempty"`
	ShapeRange          string `json:"shapeRange,omitempty"`
	// Shape is "[1, 80, 3000]", or "[]" for an output whose description gives
	// none: unknown, not a scalar.
	Shape string `json:"shape,omitempty"`
	Name  string `json:"name"`
	Type  string `json:"type"`
}

// MetadataFunction describes one function of a multi-function model.
type MetadataFunction struct {
	Name    string            `json:"name"`
	Inputs  []MetadataFeature `json:"inputSchema"`
	Outputs []MetadataFeature `json:"outputSchema"`
	States  []MetadataFeature `json:"stateSchema,omitempty"`
}

// ParseMetadata decodes a metadata.json.
func ParseMetadata(b []byte) (*Metadata, error) {
	var all []Metadata
	if err := strictJSON(b, &all); err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("expected one model, found %d", len(all))
	}
	return &all[0], nil
}

// Encode writes a metadata.json, indented as Apple's compiler does.
func (m *Metadata) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode([]*Metadata{m})
	return b.Bytes(), err
}

// availability maps a specification version to the systems that first read it.
var availability = map[int32]map[string]string{
	6:  {"macOS": "12.0", "iOS": "15.0", "tvOS": "15.0", "watchOS": "8.0", "macCatalyst": "15.0"},
	7:  {"macOS": "13.0", "iOS": "16.0", "tvOS": "16.0", "watchOS": "9.0", "macCatalyst": "16.0", "visionOS": "1.0"},
	8:  {"macOS": "14.0", "iOS": "17.0", "tvOS": "17.0", "watchOS": "10.0", "macCatalyst": "17.0", "visionOS": "1.0"},
	9:  {"macOS": "15.0", "iOS": "18.0", "tvOS": "18.0", "watchOS": "11.0", "macCatalyst": "18.0", "visionOS": "2.0"},
	10: {"macOS": "26.0", "iOS": "26.0", "tvOS": "26.0", "watchOS": "26.0", "macCatalyst": "26.0", "visionOS": "26.0"},
}

// describe makes the metadata of a compiled ML program.
func describe(m *spec.Model, className string) *Metadata {
	d := m.Description
	fn := d.Interface()
	md := &Metadata{
		OutputVersion: "3.0", Doc: d.Metadata.Doc, Version: d.Metadata.Version,
		Author: d.Metadata.Author, License: d.Metadata.License,
		Inputs: metadataFeatures(fn.Inputs), Outputs: metadataFeatures(fn.Outputs),
		ModelParameters: []json.RawMessage{}, SpecificationVersion: m.SpecificationVersion,
		Histogram: map[string]int{}, IsUpdatable: "0",
		Availability: availability[m.SpecificationVersion],
		ModelType:    MetadataType{Name: "MLModelType_" + m.Kind.String()},
		User:         map[string]string{}, ClassName: className, Method: "predict",
	}
	if len(fn.States) > 0 {
		md.States = metadataFeatures(fn.States)
	}
	maps.Copy(md.User, d.Metadata.User)
	compute := map[mil.DType]bool{}
	for _, f := range m.Program.Functions {
		f.Body.EachOp(func(op *mil.Op) {
			for _, o := range op.Outputs {
				if o.Type.IsTensor() && (o.Type.DType.IsFloat() || o.Type.DType.IsInt()) {
					compute[o.Type.DType] = true
				}
			}
			if op.Type != "const" {
				md.Histogram[camel(op.Type)]++
			}
		})
	}
	storage := map[mil.DType]bool{}
	m.Program.EachValue(func(v *mil.Value) {
		if v.Blob != nil {
			storage[v.Type.DType] = true
		}
	})
	md.ComputePrecision, md.StoragePrecision = precision(compute), precision(storage)
	return md
}

// precision spells a set of element types: "Float16", or
// "Mixed (Float16, Float32, Int32)".
func precision(set map[mil.DType]bool) string {
	var names []string
	for d := range set {
		names = append(names, dtypeTitle(d))
	}
	slices.Sort(names)
	if len(names) <= 1 {
		return strings.Join(names, "")
	}
	return "Mixed (" + strings.Join(names, ", ") + ")"
}

func dtypeTitle(d mil.DType) string {
	s := d.String()
	switch {
	case d == mil.BFloat16:
		return "BFloat16"
	case strings.HasPrefix(s, "fp"):
		return "Float" + s[2:]
	case strings.HasPrefix(s, "uint"):
		return "UInt" + s[4:]
	}
	return "Int" + strings.TrimPrefix(s, "int")
}

// camel turns layer_norm into LayerNorm.
func camel(op string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(op, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func metadataFeatures(fs []spec.Feature) []MetadataFeature {
	out := []MetadataFeature{}
	for _, f := range fs {
		mf := MetadataFeature{HasShapeFlexibility: "0", IsOptional: "0", FormattedType: f.Kind.String(),
			Doc: f.Doc, Name: f.Name, Type: f.Kind.String()}
		if f.Optional {
			mf.IsOptional = "1"
		}
		if f.Array != nil {
			mf.DataType, mf.Shape = f.Array.DType.String(), bracketed(f.Array.Shape)
			mf.FormattedType = formatted(f)
			if f.Array.Flexible() {
				mf.HasShapeFlexibility = "1"
			}
		}
		out = append(out, mf)
	}
	return out
}

func bracketed(shape []int64) string { return "[" + joinDims(shape, ", ") + "]" }

func joinDims(shape []int64, sep string) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, sep)
}

func formatted(f spec.Feature) string {
	if len(f.Array.Shape) == 0 {
		return fmt.Sprintf("%s (%s)", f.Kind, f.Array.DType)
	}
	return fmt.Sprintf("%s (%s %s)", f.Kind, f.Array.DType, joinDims(f.Array.Shape, " × "))
}
