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

var byteOrderMark = []byte("\xEF\xBB\xBF")

// ErrByteOrderMark says that a text begins with a byte-order mark, which an editor wrote and no converter does.
var ErrByteOrderMark = errors.New("the file begins with a byte-order mark (EF BB BF): an editor has saved it")

// strictJSON decodes one JSON value and refuses duplicate keys, which readers
// resolve in different ways, and anything after the value.
func strictJSON(b []byte, v any) error {
	if len(b) > maxJSON {
		return fmt.Errorf("JSON of %d bytes, the limit is %d", len(b), maxJSON)
	}
	if bytes.HasPrefix(b, byteOrderMark) {
		return ErrByteOrderMark
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
