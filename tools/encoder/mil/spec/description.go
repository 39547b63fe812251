package spec

import "strconv"

// ArrayDType is an element type of a multi-array feature
// (ArrayFeatureType.ArrayDataType; Core ML's MLMultiArrayDataType uses the
// same numbers).
type ArrayDType int32

// Element types of multi-arrays.
const (
	ArrayFloat16 ArrayDType = 65552
	ArrayFloat32 ArrayDType = 65568
	ArrayDouble  ArrayDType = 65600
	ArrayInt8    ArrayDType = 131080
	ArrayInt32   ArrayDType = 131104
)

var arrayDTypeNames = map[ArrayDType]string{
	ArrayFloat16: "Float16", ArrayFloat32: "Float32", ArrayDouble: "Double", ArrayInt8: "Int8", ArrayInt32: "Int32",
}

// String returns the name that metadata.json uses.
func (a ArrayDType) String() string {
	if s, ok := arrayDTypeNames[a]; ok {
		return s
	}
	return "type " + strconv.Itoa(int(a))
}

// ParseArrayDType is the inverse of String.
func ParseArrayDType(name string) (ArrayDType, bool) {
	for d, s := range arrayDTypeNames {
		if s == name {
			return d, true
		}
	}
	return 0, false
}

// FeatureKind says what a feature is.
type FeatureKind uint8

// Kinds of features, numbered as the fields of FeatureType.
const (
	NoFeature         FeatureKind = 0
	Int64Feature      FeatureKind = 1
	DoubleFeature     FeatureKind = 2
	StringFeature     FeatureKind = 3
	ImageFeature      FeatureKind = 4
	MultiArrayFeature FeatureKind = 5
	DictionaryFeature FeatureKind = 6
	SequenceFeature   FeatureKind = 7
	StateFeature      FeatureKind = 8
)

// featureKindNames are those of metadata.json.
var featureKindNames = map[FeatureKind]string{
	Int64Feature: "Int64", DoubleFeature: "Double", StringFeature: "String", ImageFeature: "Image",
	MultiArrayFeature: "MultiArray", DictionaryFeature: "Dictionary", SequenceFeature: "Sequence", StateFeature: "State",
}

// String returns the name that metadata.json uses, or "none".
func (k FeatureKind) String() string {
	if s, ok := featureKindNames[k]; ok {
		return s
	}
	return "none"
}

// Range is an allowed extent. Upper is negative when there is no bound.
type Range struct{ Lower, Upper int64 }

// Array describes a multi-array feature, or the array of a state.
type Array struct {
	// Shape is the required shape, or the default one of a flexible feature.
	// Outputs often leave it empty: unknown, not a scalar.
	Shape []int64
	DType ArrayDType
	// Enumerated lists the allowed shapes; nil when there is no such list.
	Enumerated [][]int64
	// Ranges bounds each dimension; nil when there is no such range.
	Ranges []Range
	// HasDefault says that an optional input carries a default value.
	HasDefault bool
}

// Flexible reports whether the shape may vary at run time.
func (a *Array) Flexible() bool { return a.Enumerated != nil || a.Ranges != nil }

// Feature is one input, output or state of a model.
type Feature struct {
	Name, Doc string
	Kind      FeatureKind
	Optional  bool
	// Array is set for multi-arrays and states.
	Array *Array
	// raw keeps the type message of the kinds that are not decoded further.
	raw []byte
}

// Function describes the interface of one function of a multi-function model.
type Function struct {
	Name                               string
	Inputs, Outputs, States            []Feature
	PredictedFeature, PredictedProbabs string
}

// Metadata is what an author wrote about a model.
type Metadata struct {
	Doc, Version, Author, License string
	// User holds the user-defined entries, such as
	// com.github.apple.coremltools.version.
	User map[string]string
}

// Description is a ModelDescription: the interface of a model.
type Description struct {
	// Function holds the features of a model with one function; its Name is
	// empty. When Functions is set these are empty.
	Function
	Training        []Feature
	Functions       []Function
	DefaultFunction string
	Metadata        Metadata
}

// Interface returns what a caller of the default function sees: the features
// of the model, or of the default function where functions are described one
// by one. It is nil when the default names no function.
func (d *Description) Interface() *Function {
	if len(d.Functions) == 0 {
		return &d.Function
	}
	for i := range d.Functions {
		if d.Functions[i].Name == d.DefaultFunction {
			return &d.Functions[i]
		}
	}
	return nil
}

// DecodeDescription decodes a ModelDescription. unknown names fields that
// this package does not know, as "message.number".
func DecodeDescription(b []byte) (desc *Description, unknown []string, err error) {
	d := &decoder{}
	desc, err = d.description(b)
	return desc, d.unknown, err
}

func (d *decoder) description(b []byte) (*Description, error) {
	desc := &Description{}
	err := d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			err = d.feature(&desc.Inputs, f)
		case 10:
			err = d.feature(&desc.Outputs, f)
		case 13:
			err = d.feature(&desc.States, f)
		case 50:
			err = d.feature(&desc.Training, f)
		case 11:
			desc.PredictedFeature, err = f.str()
		case 12:
			desc.PredictedProbabs, err = f.str()
		case 20:
			var fn Function
			fn, err = d.functionDescription(f)
			desc.Functions = append(desc.Functions, fn)
		case 21:
			desc.DefaultFunction, err = f.str()
		case 100:
			err = d.metadata(&desc.Metadata, f)
		default:
			d.skip("ModelDescription", f)
		}
		return err
	})
	return desc, err
}

func (d *decoder) functionDescription(f field) (fn Function, err error) {
	b, err := f.bytes()
	if err != nil {
		return fn, err
	}
	err = d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			fn.Name, err = f.str()
		case 2:
			err = d.feature(&fn.Inputs, f)
		case 3:
			err = d.feature(&fn.Outputs, f)
		case 4:
			fn.PredictedFeature, err = f.str()
		case 5:
			fn.PredictedProbabs, err = f.str()
		case 6:
			err = d.feature(&fn.States, f)
		default:
			d.skip("FunctionDescription", f)
		}
		return err
	})
	return fn, err
}

func (d *decoder) metadata(m *Metadata, f field) error {
	b, err := f.bytes()
	if err != nil {
		return err
	}
	return d.message(b, func(f field) (err error) {
		switch f.num {
		case 1:
			m.Doc, err = f.str()
		case 2:
			m.Version, err = f.str()
		case 3:
			m.Author, err = f.str()
		case 4:
			m.License, err = f.str()
		case 100:
			var key string
			var val []byte
			if key, val, err = d.mapEntry(f); err == nil {
				if m.User == nil {
					m.User = map[string]string{}
				}
				m.User[key] = string(val)
			}
		default:
			d.skip("Metadata", f)
		}
		return err
	})
}
