package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	maxJSON      = 16 << 20
	maxJSONDepth = 64
)

// marked says what an editor and no converter begins a text with: a byte-order mark, or UTF-16. It returns nil for other texts.
func marked(head []byte) error {
	for _, m := range []struct{ bytes, is string }{
		{"\xEF\xBB\xBF", "a byte-order mark (EF BB BF)"},
		{"\xFF\xFE", "a byte-order mark of UTF-16 (FF FE)"},
		{"\xFE\xFF", "a byte-order mark of UTF-16 (FE FF)"},
	} {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return fmt.Errorf("the file begins with %s, expected UTF-8 without one: an editor has saved it", m.is)
		}
	}
	if len(head) > 1 && (head[0] == 0) != (head[1] == 0) {
		return errors.New("the file is UTF-16, expected UTF-8: an editor has saved it")
	}
	return nil
}

// strictJSON decodes one JSON value and refuses duplicate keys, which readers
// resolve in different ways, and anything after the value.
func strictJSON(b []byte, v any) error {
	if len(b) > maxJSON {
		return fmt.Errorf("JSON of %d bytes, the limit is %d", len(b), maxJSON)
	}
	if err := marked(b); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := uniqueKeys(d, 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("JSON goes on after its value")
	}
	return json.Unmarshal(b, v)
}

func uniqueKeys(d *json.Decoder, depth int) error {
	if depth > maxJSONDepth {
		return fmt.Errorf("JSON nests deeper than %d, the limit", maxJSONDepth)
	}
	t, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			k, err := d.Token()
			if err != nil {
				return err
			}
			key, _ := k.(string)
			if seen[key] {
				return fmt.Errorf("JSON key %q stands twice", key)
			}
			seen[key] = true
		}
		if err := uniqueKeys(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
