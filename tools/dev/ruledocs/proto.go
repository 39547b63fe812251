package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protocol buffer by its field numbers: of each field, its values in order. Numbers and texts are all that
// stardoc_output.proto has.
type message map[protowire.Number][]value

type value struct {
	bytes  []byte
	number uint64
}

// parse reads a message of stardoc_output.proto, as Bazel's starlark_doc_extract writes it.
func parse(data []byte) (message, error) {
	out := message{}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, fmt.Errorf("read a field: %w", protowire.ParseError(n))
		}
		data = data[n:]
		var v value
		switch kind {
		case protowire.VarintType:
			v.number, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(data)
		default:
			return nil, fmt.Errorf("field %d: expected a number or bytes, found wire type %d", number, kind)
		}
		if n < 0 {
			return nil, fmt.Errorf("read field %d: %w", number, protowire.ParseError(n))
		}
		data = data[n:]
		out[number] = append(out[number], v)
	}
	return out, nil
}

// text is a field that holds one text.
func (m message) text(field protowire.Number) string {
	values := m[field]
	if len(values) == 0 {
		return ""
	}
	return string(values[len(values)-1].bytes)
}

func (m message) number(field protowire.Number) uint64 {
	values := m[field]
	if len(values) == 0 {
		return 0
	}
	return values[len(values)-1].number
}

// messages are a field that holds messages.
func (m message) messages(field protowire.Number) ([]message, error) {
	var out []message
	for _, v := range m[field] {
		sub, err := parse(v.bytes)
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", field, err)
		}
		out = append(out, sub)
	}
	return out, nil
}

// Field numbers of stardoc_output.proto. A rule, a provider, a function, a module extension and a tag class agree on the first two.
const (
	moduleRules      = 1
	moduleProviders  = 2
	moduleFunctions  = 3
	moduleDoc        = 5
	moduleExtensions = 7

	entryName = 1
	entryDoc  = 2

	ruleAttributes       = 3
	providerFields       = 3
	functionParameters   = 2
	functionDoc          = 3
	extensionTags        = 3
	attributeType        = 3
	attributeMandatory   = 4
	attributeProviders   = 5
	attributeDefault     = 6
	groupNames           = 1
	parameterDefault     = 3
	parameterMandatory   = 4
	parameterRole        = 5
	roleVarargs          = 4
	roleKwargs           = 5
	functionReturn       = 4
	functionReturnedText = 1
)

// types are the names of AttributeType, as Bazel's documentation links them.
var types = []string{
	"unknown", "Name", "Integer", "Label", "String", "List of strings", "List of integers", "List of labels", "Boolean",
	"Dictionary: Label -> String", "Dictionary: String -> String", "Dictionary: String -> List of strings", "Label", "List of labels",
}
