package statement

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// What names are made of. A name decides what a reader takes a receipt for, so it has letters that look like no other.
var (
	labelForm = regexp.MustCompile(`^(@@?[A-Za-z0-9._+~-]*)?//[A-Za-z0-9._+~=,@/-]*:[A-Za-z0-9._+~=,@/-]+$`)
	wordForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
	pathForm  = regexp.MustCompile(`^[A-Za-z0-9._+~=,@ -]+(/[A-Za-z0-9._+~=,@ -]+)*$`)
)

// CheckLabel refuses a name that is not a label of ASCII letters.
func CheckLabel(name string) error {
	segments := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == ':' })
	if !labelForm.MatchString(name) || slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return fmt.Errorf("name is %q, expected the label of a target, such as //models:small_receipt", name)
	}
	return nil
}

// checkNames refuses names, labels and paths outside their alphabets.
func (p *Predicate) checkNames() error {
	if err := CheckLabel(p.Name); err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	for _, word := range []struct{ what, text string }{{"flavour", p.Flavour}, {"pin name", p.Pin.Name}} {
		if !wordForm.MatchString(word.text) {
			return fmt.Errorf("receipt: %s is %q, expected a word", word.what, word.text)
		}
	}
	if !labelForm.MatchString(p.Pin.Patch.Label) {
		return fmt.Errorf("receipt: patch label is %q, expected a label", p.Pin.Patch.Label)
	}
	for _, path := range append(encoderPaths(p), p.Pin.PatchedFile.Path) {
		if !pathForm.MatchString(path) {
			return fmt.Errorf("receipt: path %q: expected ASCII letters, digits and ._+~=,@ - between slashes", path)
		}
	}
	for _, ref := range p.Policies {
		if !wordForm.MatchString(ref.Name) || !hexDigest.MatchString(ref.SHA256) {
			return fmt.Errorf("receipt: policy %q has digest %q, expected a word and 64 hexadecimal digits in lower case", ref.Name, ref.SHA256)
		}
	}
	return nil
}

func encoderPaths(p *Predicate) []string {
	var out []string
	for _, f := range p.EncoderFiles {
		out = append(out, f.Path)
	}
	return out
}

// CheckVisible refuses texts that are not seen as they are: control characters, line ends, marks without width. It looks
// at every text of v, keys included.
func CheckVisible(v any) error { return checkVisible(reflect.ValueOf(v), "statement") }

func checkVisible(v reflect.Value, where string) error {
	switch v.Kind() {
	case reflect.String:
		if strings.ContainsFunc(v.String(), reason.Hidden) {
			return fmt.Errorf("%s is %q, expected visible characters", where, v.String())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkVisible(v.Elem(), where)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := checkVisible(v.Field(i), where+"."+v.Type().Field(i).Name); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkVisible(v.Index(i), fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for m := v.MapRange(); m.Next(); {
			if err := checkVisible(m.Key(), "a key of "+where); err != nil {
				return err
			}
			if err := checkVisible(m.Value(), where+"."+m.Key().String()); err != nil {
				return err
			}
		}
	}
	return nil
}
