package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// source is one public .bzl file.
type source struct {
	// name is the file's, such as defs.bzl.
	name string
	data []byte
}

const header = "<!-- Generated from the rules' own words by tools/dev/ruledocs. Do not edit. -->\n\n# Rules, providers and extensions\n"

// The copies that Bazel read name their own repository, where a user reads this module's.
const (
	copies   = "@rule_docs//"
	original = "@rules_coreml_gate//"
)

// page writes the reference of all files, in the form that Stardoc writes.
func page(sources []source) (string, error) {
	var out strings.Builder
	out.WriteString(header)
	for _, s := range sources {
		m, err := parse(s.data)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.name, err)
		}
		w := writer{out: &out, file: "@rules_coreml_gate//gate:" + s.name}
		fmt.Fprintf(&out, "\n# %s\n\n%s\n", s.name, strings.TrimSpace(m.text(moduleDoc)))
		for _, part := range []struct {
			field protowire.Number
			write func(message) error
		}{
			{moduleFunctions, w.macro}, {moduleRules, w.rule}, {moduleProviders, w.provider}, {moduleExtensions, w.extension},
		} {
			entries, err := m.messages(part.field)
			if err != nil {
				return "", fmt.Errorf("%s: %w", s.name, err)
			}
			slices.SortFunc(entries, func(a, b message) int { return strings.Compare(a.text(entryName), b.text(entryName)) })
			for _, entry := range entries {
				if err := part.write(entry); err != nil {
					return "", fmt.Errorf("%s: %s: %w", s.name, entry.text(entryName), err)
				}
			}
		}
	}
	return strings.ReplaceAll(out.String(), copies, original), nil
}

type writer struct {
	out  *strings.Builder
	file string
}

// head begins an entry: its anchor, how it is loaded and called, and what it says of itself.
func (w writer) head(name string, arguments []string, doc string) error {
	if strings.TrimSpace(doc) == "" {
		return fmt.Errorf("expected documentation, found none")
	}
	linked := make([]string, len(arguments))
	for i, a := range arguments {
		linked[i] = fmt.Sprintf(`<a href="#%s-%s">%s</a>`, name, strings.TrimLeft(a, "*"), a)
	}
	fmt.Fprintf(w.out, "\n<a id=%q></a>\n\n## %s\n\n<pre>\nload(%q, %q)\n\n%s(%s)\n</pre>\n\n%s\n", name, name, w.file, name, name, strings.Join(linked, ", "), strings.TrimSpace(doc))
	return nil
}

// table begins a table, and row adds to it; a cell holds no line break and no bar of its own.
func (w writer) table(title string, columns ...string) {
	fmt.Fprintf(w.out, "\n**%s**\n\n| %s |\n|%s\n", title, strings.Join(columns, " | "), strings.Repeat(" :--- |", len(columns)))
}

func (w writer) row(entry, name string, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`)
	}
	fmt.Fprintf(w.out, "| <a id=\"%s-%s\"></a>%s | %s |\n", entry, strings.TrimLeft(name, "*"), name, strings.Join(cells, " | "))
}

func (w writer) rule(m message) error {
	name := m.text(entryName)
	attributes, err := m.messages(ruleAttributes)
	if err != nil {
		return err
	}
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.text(entryName)
	}
	if err := w.head(name, names, m.text(entryDoc)); err != nil {
		return err
	}
	return w.attributes(name, attributes)
}

func (w writer) attributes(entry string, attributes []message) error {
	w.table("ATTRIBUTES", "Name", "Description", "Type", "Mandatory", "Default")
	for _, a := range attributes {
		name, doc := a.text(entryName), a.text(entryDoc)
		if doc == "" {
			return fmt.Errorf("attribute %s: expected documentation, found none", name)
		}
		kind := a.number(attributeType)
		if kind >= uint64(len(types)) {
			return fmt.Errorf("attribute %s: expected a type below %d, found %d", name, len(types), kind)
		}
		groups, err := a.messages(attributeProviders)
		if err != nil {
			return err
		}
		for _, g := range groups {
			var names []string
			for _, n := range g[groupNames] {
				names = append(names, "`"+string(n.bytes)+"`")
			}
			doc += " Provides " + strings.Join(names, ", ") + "."
		}
		required, value := "optional", "`"+a.text(attributeDefault)+"`"
		if a.number(attributeMandatory) == 1 {
			required, value = "required", ""
		}
		w.row(entry, name, doc, types[kind], required, value)
	}
	return nil
}

func (w writer) macro(m message) error {
	name := m.text(entryName)
	parameters, err := m.messages(functionParameters)
	if err != nil {
		return err
	}
	names := make([]string, len(parameters))
	for i, p := range parameters {
		names[i] = strings.Repeat("*", stars(p)) + p.text(entryName)
	}
	if err := w.head(name, names, m.text(functionDoc)); err != nil {
		return err
	}
	w.table("PARAMETERS", "Name", "Description", "Default")
	for i, p := range parameters {
		if p.text(entryDoc) == "" {
			return fmt.Errorf("parameter %s: expected documentation, found none", names[i])
		}
		value := "none"
		if p.number(parameterMandatory) == 0 && stars(p) == 0 {
			value = "`" + p.text(parameterDefault) + "`"
		}
		w.row(name, names[i], p.text(entryDoc), value)
	}
	returned, err := m.messages(functionReturn)
	if err != nil {
		return err
	}
	for _, r := range returned {
		fmt.Fprintf(w.out, "\n**RETURNS**\n\n%s\n", r.text(functionReturnedText))
	}
	return nil
}

// stars is how many a parameter has before its name.
func stars(p message) int {
	switch p.number(parameterRole) {
	case roleVarargs:
		return 1
	case roleKwargs:
		return 2
	}
	return 0
}

func (w writer) provider(m message) error {
	name := m.text(entryName)
	fields, err := m.messages(providerFields)
	if err != nil {
		return err
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.text(entryName)
	}
	if err := w.head(name, names, m.text(entryDoc)); err != nil {
		return err
	}
	w.table("FIELDS", "Name", "Description")
	for i, f := range fields {
		if f.text(entryDoc) == "" {
			return fmt.Errorf("field %s: expected documentation, found none", names[i])
		}
		w.row(name, names[i], f.text(entryDoc))
	}
	return nil
}

func (w writer) extension(m message) error {
	name := m.text(entryName)
	tags, err := m.messages(extensionTags)
	if err != nil {
		return err
	}
	if m.text(entryDoc) == "" {
		return fmt.Errorf("expected documentation, found none")
	}
	fmt.Fprintf(w.out, "\n<a id=%q></a>\n\n## %s\n\n<pre>\n%s = use_extension(%q, %q)\n</pre>\n\n%s\n", name, name, name, w.file, name, strings.TrimSpace(m.text(entryDoc)))
	for _, t := range tags {
		tag := t.text(entryName)
		attributes, err := t.messages(ruleAttributes)
		if err != nil {
			return err
		}
		fmt.Fprintf(w.out, "\n<a id=%q></a>\n\n### %s.%s\n\n%s\n", name+"-"+tag, name, tag, strings.TrimSpace(t.text(entryDoc)))
		if err := w.attributes(name+"-"+tag, attributes); err != nil {
			return fmt.Errorf("%s: %w", tag, err)
		}
	}
	return nil
}
