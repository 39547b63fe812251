// Package mil holds Core ML model programs in memory.
//
// A program (Core ML calls its language MIL) exists in two encodings: as text
// in model.mil of a compiled .mlmodelc, written by Apple's compiler as program
// 1.0 or 1.3, and as a protobuf (CoreML.Specification.MILSpec.Program) inside
// the .mlmodel of an .mlpackage. Both decode into the types of this package,
// so that whoever inspects or evaluates a program need not know which one it
// came from. Packages text and spec are the two codecs; package bundle opens
// whole artifacts; package blob reads the weights.
//
// What is normalised on the way in:
//   - a scalar (`int32(1)` of program 1.3) is a tensor of rank 0;
//   - immediate numbers are packed little-endian bytes of their own type;
//   - maps (attributes, arguments, functions) are slices, in the order of the
//     text, or sorted by key when they came from a protobuf map.
package mil

// Program is one MIL program.
type Program struct {
	// Major and Minor are the version of the text form: 1.0 or 1.3. The
	// protobuf carries Major only, and its decoder leaves Minor at 0.
	Major, Minor int
	// Attrs holds program attributes such as buildInfo.
	Attrs     []Attr
	Functions []*Function
	Doc       string
}

// Function is one entry point of a program.
type Function struct {
	Name string
	// Opset names the operation set of Body: ios15 … ios18, CoreML5 … CoreML8.
	Opset string
	// Params are the inputs; their order carries no meaning.
	Params []Param
	Attrs  []Attr
	// Body is the block that runs.
	Body *Block
	// Others are block specialisations for opsets that are not the active
	// one. Only the protobuf form can hold them.
	Others []Specialization
	// Line is where the function begins in the text, 0 when unknown.
	Line int
}

// Specialization is a function body for another opset than the active one.
type Specialization struct {
	Opset string
	Body  *Block
}

// Param is a named, typed value: a function input or an operation output.
type Param struct {
	Name string
	Type *Type
}

// Block is a list of operations in execution order.
type Block struct {
	// Inputs are block-local names; empty for the body of a function.
	Inputs []Param
	// Outputs are the names of values that leave the block.
	Outputs []string
	Ops     []*Op
	Attrs   []Attr
}

// Op is one operation.
type Op struct {
	// Type is the operation's kind, such as "conv"; a dotted prefix
	// ("ios16.mul") is kept as written.
	Type    string
	Inputs  []Arg
	Outputs []Param
	// Attrs holds name, and for const and for constexpr_* up to iOS 17 the
	// values themselves (val, quantized_data, …).
	Attrs []Attr
	// Blocks are nested blocks of control flow.
	Blocks []*Block
	// Line is the operation's line in the text (from 1). For a program from
	// protobuf it is the operation's position in its block, from 1.
	Line int
}

// Arg binds a parameter of an operation to one value, or to several.
type Arg struct {
	Name string
	// Bindings has one element for an ordinary argument and any number for a
	// variadic one, such as the values of concat.
	Bindings []Binding
	// Variadic says that the text wrote the bindings in parentheses. A
	// protobuf does not say; there it is true unless there is one binding.
	Variadic bool
}

// Binding is either the name of an earlier value or an inline constant.
type Binding struct {
	Name  string // empty when Value is set
	Value *Value
}

// Attr is a named constant attached to a program, function, block or operation.
type Attr struct {
	Name  string
	Value *Value
}

// Function returns the function called name, or nil.
func (p *Program) Function(name string) *Function {
	for _, f := range p.Functions {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Attr returns the operation's attribute called name, or nil.
func (o *Op) Attr(name string) *Value { return FindAttr(o.Attrs, name) }

// Name returns the string in the operation's name attribute, or "".
func (o *Op) Name() string {
	s, _ := o.Attr("name").AsString()
	return s
}

// Input returns the argument called name, or nil.
func (o *Op) Input(name string) *Arg {
	for i := range o.Inputs {
		if o.Inputs[i].Name == name {
			return &o.Inputs[i]
		}
	}
	return nil
}

// FindAttr returns the value of the attribute called name, or nil.
func FindAttr(attrs []Attr, name string) *Value {
	for _, a := range attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}
