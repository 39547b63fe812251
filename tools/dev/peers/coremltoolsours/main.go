// Coremltoolsours is our side of the peer coremltools: it reads artifacts with
// tools/encoder/mil and prints what it found, for the peer to compare.
//
//	coremltoolsours facts ARTIFACT         one JSON object: kind, version, functions, features
//	coremltoolsours constants PACKAGE      one JSON object a constant: function, name, type, digest of its elements
//	coremltoolsours elements PACKAGE NAME  the elements of one constant of main, as constants hashes them
//	coremltoolsours rewrite PACKAGE OUT    reads the package and writes it again
//	coremltoolsours text PACKAGE           writes the program as text 1.0 and 1.3, reads it back, compares
//	coremltoolsours compiled PACKAGE OUT   compiles the package, opens the result, compares program and weights
//
// Elements are hashed little-endian, one byte for each bool and each integer
// below eight bits (sign-extended), as NumPy holds them.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/bundle"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/constexpr"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

var errUsage = errors.New("usage: coremltoolsours facts|constants|text ARTIFACT, or elements|rewrite|compiled ARTIFACT NAME")

func run(args []string, stdout, stderr io.Writer) int {
	if err := dispatch(args, stdout); err != nil {
		fmt.Fprintln(stderr, "coremltoolsours:", err)
		return 1
	}
	return 0
}

func dispatch(args []string, stdout io.Writer) (err error) {
	if len(args) < 2 {
		return errUsage
	}
	a, err := bundle.Open(args[1])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Check(); err != nil {
		return err
	}
	switch {
	case args[0] == "facts" && len(args) == 2:
		return json.NewEncoder(stdout).Encode(factsOf(a))
	case args[0] == "constants" && len(args) == 2:
		return constants(a, stdout)
	case args[0] == "text" && len(args) == 2:
		return roundTripText(a)
	case args[0] == "elements" && len(args) == 3:
		return printElements(a, args[2], stdout)
	case args[0] == "rewrite" && len(args) == 3:
		return rewrite(a, args[2])
	case args[0] == "compiled" && len(args) == 3:
		return compiled(a, args[2])
	}
	return errUsage
}

type feature struct {
	Name, Kind, DType string
	Shape             []int64
	Enumerated        [][]int64
	Ranges            [][2]int64
	Optional          bool
}

type facts struct {
	Kind            string
	Version         int32
	Functions       map[string]int // operations, by name
	Described       []string       // functions that the description names
	DefaultFunction string
	Inputs, Outputs []feature
	States          []feature
	Models          []string // members of a pipeline
	Layers          int
	Unknown         []string
	Metadata        map[string]string
}

func factsOf(a *bundle.Artifact) facts {
	f := facts{Kind: a.Kind.String(), Version: a.SpecificationVersion, Functions: map[string]int{},
		DefaultFunction: a.Description.DefaultFunction,
		Inputs:          features(a.Description.Inputs), Outputs: features(a.Description.Outputs), States: features(a.Description.States),
		Metadata: a.Description.Metadata.User}
	if a.Program != nil {
		for _, fn := range a.Program.Functions {
			fn.Body.EachOp(func(*mil.Op) { f.Functions[fn.Name]++ })
		}
	}
	for _, fn := range a.Description.Functions {
		f.Described = append(f.Described, fn.Name)
	}
	if a.Model != nil {
		f.Layers, f.Unknown = a.Model.Layers, a.Model.Unknown
		for _, m := range a.Model.Models {
			f.Models = append(f.Models, m.Kind.String())
		}
	}
	return f
}

func features(fs []spec.Feature) []feature {
	out := []feature{}
	for _, s := range fs {
		f := feature{Name: s.Name, Kind: s.Kind.String(), Optional: s.Optional}
		if s.Array != nil {
			f.DType, f.Shape, f.Enumerated = s.Array.DType.String(), s.Array.Shape, s.Array.Enumerated
			for _, r := range s.Array.Ranges {
				f.Ranges = append(f.Ranges, [2]int64{r.Lower, r.Upper})
			}
		}
		out = append(out, f)
	}
	return out
}

type constant struct {
	Function, Name, Kind, Type string
	SHA256                     string
	Strings                    []string `json:",omitempty"`
}

func constants(a *bundle.Artifact, stdout io.Writer) error {
	e := json.NewEncoder(stdout)
	for _, fn := range a.Program.Functions {
		all := constexpr.NewConstants(fn.Body, a)
		for _, op := range fn.Body.Ops {
			for _, o := range op.Outputs {
				if !all.Has(o.Name) {
					continue
				}
				c := constant{Function: fn.Name, Name: o.Name, Kind: op.Type, Type: o.Type.String()}
				if o.Type.DType == mil.String || !o.Type.IsTensor() {
					if v := op.Attr("val"); v != nil {
						c.Strings = v.Strings
					}
				} else {
					b, err := elements(all, o.Name)
					if err != nil {
						return err
					}
					digest := sha256.Sum256(b)
					c.SHA256 = hex.EncodeToString(digest[:])
				}
				if err := e.Encode(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func printElements(a *bundle.Artifact, name string, stdout io.Writer) error {
	fn := a.Program.Function("main")
	if fn == nil {
		return errors.New("the program has no function main")
	}
	b, err := elements(constexpr.NewConstants(fn.Body, a), name)
	if err == nil {
		_, err = stdout.Write(b)
	}
	return err
}

func elements(all *constexpr.Constants, name string) ([]byte, error) {
	t, err := all.Tensor(name)
	if err != nil || t.DType.Bits() >= 8 {
		return t.Data, err
	}
	ints, err := mil.DecodeInts(mil.TensorOf(t.DType, t.Shape...), t.Data)
	b := make([]byte, len(ints))
	for i, x := range ints {
		b[i] = byte(x)
	}
	return b, err
}
