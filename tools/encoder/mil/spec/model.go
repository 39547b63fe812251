// Package spec reads and writes the protobuf form of Core ML models: the
// .mlmodel file, also inside an .mlpackage, and its parts.
//
// Field numbers are those of coremltools' mlmodel/format/Model.proto,
// FeatureTypes.proto and MIL.proto. The wire format is decoded by hand, with
// bounds, so that no generated code for thirty model types is needed:
//
//	Model             1 specificationVersion, 2 description, 10 isUpdatable, then one model type whose
//	                  field number is its Kind: 200–202 pipelines, 303/403/500 neural networks, 502 mlProgram
//	ModelDescription  1 input, 10 output, 11/12 predicted names, 13 state, 20 functions,
//	                  21 default function, 50 training input, 100 metadata
//
// A model file may be gigabytes long (a neural network carries its weights
// inside), so the file is walked by seeking and only the description and an
// ML program are ever loaded.
package spec

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
)

// Kind is the model type: its field number in Model.
type Kind int32

// Model types that this package looks into.
const (
	PipelineClassifier      Kind = 200
	PipelineRegressor       Kind = 201
	Pipeline                Kind = 202
	NeuralNetworkRegressor  Kind = 303
	NeuralNetworkClassifier Kind = 403
	NeuralNetwork           Kind = 500
	MLProgram               Kind = 502
)

var kindNames = map[Kind]string{
	PipelineClassifier: "pipelineClassifier", PipelineRegressor: "pipelineRegressor", Pipeline: "pipeline",
	300: "glmRegressor", 301: "supportVectorRegressor", 302: "treeEnsembleRegressor",
	NeuralNetworkRegressor: "neuralNetworkRegressor", 304: "bayesianProbitRegressor",
	400: "glmClassifier", 401: "supportVectorClassifier", 402: "treeEnsembleClassifier",
	NeuralNetworkClassifier: "neuralNetworkClassifier", 404: "kNearestNeighborsClassifier",
	NeuralNetwork: "neuralNetwork", 501: "itemSimilarityRecommender", MLProgram: "mlProgram",
	555: "customModel", 556: "linkedModel", 560: "classConfidenceThresholding",
	600: "oneHotEncoder", 601: "imputer", 602: "featureVectorizer", 603: "dictVectorizer", 604: "scaler",
	606: "categoricalMapping", 607: "normalizer", 609: "arrayFeatureExtractor", 610: "nonMaximumSuppression",
	900: "identity", 2000: "textClassifier", 2001: "wordTagger", 2002: "visionFeaturePrint",
	2003: "soundAnalysisPreprocessing", 2004: "gazetteer", 2005: "wordEmbedding", 2006: "audioFeaturePrint",
	3000: "serializedModel",
}

// String returns the field's name in Model.proto.
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	if k == 0 {
		return "no model type"
	}
	return "model type " + strconv.Itoa(int(k))
}

// IsPipeline reports whether k chains other models.
func (k Kind) IsPipeline() bool { return k >= PipelineClassifier && k <= Pipeline }

// IsNetwork reports whether k is the neural network format that ML programs
// replaced.
func (k Kind) IsNetwork() bool {
	return k == NeuralNetwork || k == NeuralNetworkClassifier || k == NeuralNetworkRegressor
}

// Model is a decoded Model message.
type Model struct {
	SpecificationVersion int32
	Description          *Description
	Updatable            bool
	Kind                 Kind
	// Program is set for MLProgram.
	Program *mil.Program
	// Layers is the number of layers of a neural network.
	Layers int
	// Models are the members of a pipeline.
	Models []*Model
	// Unknown names fields that this package does not know, as
	// "message.number": the file is from a newer Core ML, or is none.
	Unknown []string
}

const (
	maxPipeline = 64      // members of one pipeline
	maxLayers   = 1 << 20 // layers of one network
	maxNesting  = 8       // pipelines within pipelines
)

// Read decodes the model file of size bytes in r.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	head := make([]byte, mil.LFSHeadBytes)
	n, _ := r.ReadAt(head, 0)
	if mil.IsLFSPointer(head[:n]) {
		return nil, mil.ErrLFSPointer
	}
	m, err := readModel(section{r: r, end: size}, 0)
	if err != nil {
		return nil, fmt.Errorf("model file of %d bytes: %w", size, err)
	}
	return m, nil
}

func readModel(s section, depth int) (*Model, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("pipelines nest deeper than %d, the limit", maxNesting)
	}
	m := &Model{}
	d := &decoder{}
	err := s.each(func(f lazyField) error {
		switch {
		case f.num == 1:
			v, err := f.int()
			if err == nil && (v < 0 || v > math.MaxInt32) {
				err = fmt.Errorf("specification version %d", v)
			}
			m.SpecificationVersion = int32(v)
			return err
		case f.num == 2:
			if m.Description != nil {
				return errors.New("two descriptions")
			}
			b, err := f.load(MaxDescription, "description")
			if err == nil {
				m.Description, err = d.description(b)
			}
			return err
		case f.num == 10:
			v, err := f.int()
			m.Updatable = v != 0
			return err
		case f.num < 200 || f.num > 3000:
			d.skip("Model", field{num: f.num})
			return nil
		case m.Kind != 0:
			return fmt.Errorf("two model types, %s and %s", m.Kind, Kind(f.num))
		}
		m.Kind = Kind(f.num)
		return m.readBody(d, f, depth)
	})
	if err != nil {
		return nil, err
	}
	if m.Description == nil || m.Kind == 0 || m.SpecificationVersion == 0 {
		return nil, errors.New("not a Core ML model: expected a specification version, a description and a model type")
	}
	m.Unknown = d.unknown
	return m, nil
}

func (m *Model) readBody(d *decoder, f lazyField, depth int) error {
	if f.typ != protowire.BytesType {
		return fmt.Errorf("%s: expected a message", m.Kind)
	}
	switch {
	case m.Kind == MLProgram:
		b, err := f.load(MaxProgram, "program")
		if err == nil {
			m.Program, err = d.program(b)
		}
		return err
	case m.Kind.IsNetwork():
		return f.body.each(func(l lazyField) error {
			if l.num == 1 {
				m.Layers++
			}
			if m.Layers > maxLayers {
				return fmt.Errorf("neural network of more than %d layers, the limit", maxLayers)
			}
			return nil
		})
	case m.Kind == Pipeline:
		return m.readPipeline(f.body, depth)
	case m.Kind.IsPipeline():
		return f.body.each(func(p lazyField) error {
			if p.num != 1 || p.typ != protowire.BytesType {
				return nil
			}
			return m.readPipeline(p.body, depth)
		})
	}
	return nil
}

func (m *Model) readPipeline(s section, depth int) error {
	return s.each(func(f lazyField) error {
		if f.num != 1 || f.typ != protowire.BytesType {
			return nil
		}
		if len(m.Models) == maxPipeline {
			return fmt.Errorf("pipeline of more than %d models, the limit", maxPipeline)
		}
		sub, err := readModel(f.body, depth+1)
		if err != nil {
			return fmt.Errorf("pipeline model %d: %w", len(m.Models), err)
		}
		m.Models = append(m.Models, sub)
		return nil
	})
}

// Encode encodes an ML program model. Other model types cannot be written.
func (m *Model) Encode() ([]byte, error) {
	if m.Kind != MLProgram || m.Program == nil || m.Description == nil {
		return nil, fmt.Errorf("encode a model: expected an mlProgram with its description, found %s", m.Kind)
	}
	desc, err := EncodeDescription(m.Description)
	if err != nil {
		return nil, fmt.Errorf("encode the description: %w", err)
	}
	prog, err := EncodeProgram(m.Program)
	if err != nil {
		return nil, fmt.Errorf("encode the program: %w", err)
	}
	b := appendInt(nil, 1, int64(m.SpecificationVersion))
	b = appendMessage(b, 2, desc)
	b = appendBool(b, 10, m.Updatable)
	return appendMessage(b, protowire.Number(MLProgram), prog), nil
}
