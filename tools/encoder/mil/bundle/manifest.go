package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const (
	manifestName = "Manifest.json"
	dataDir      = "Data"
	coreMLAuthor = "com.apple.CoreML"

	maxItems = 1000
)

// Manifest is an .mlpackage's Manifest.json:
//
//	{"fileFormatVersion": "1.0.0",
//	 "itemInfoEntries": {ID: {"author", "description", "name", "path"}, …},
//	 "rootModelIdentifier": ID}
//
// Paths are relative to the Data folder. Identifiers are UUIDs; other writers
// draw them at random, this one derives them from content.
type Manifest struct {
	RootID string
	Items  []Item // sorted by ID
}

// Item is one entry of a manifest.
type Item struct {
	ID, Name, Path, Author, Description string
}

// ParseManifest decodes and checks a Manifest.json.
func ParseManifest(b []byte) (*Manifest, error) {
	// Maps, not structs: encoding/json would take "PATH" for "path".
	var top map[string]json.RawMessage
	if err := strictJSON(b, &top); err != nil {
		return nil, err
	}
	version, err := jsonString(top, "fileFormatVersion")
	if err != nil {
		return nil, err
	}
	if version != "1.0.0" {
		return nil, fmt.Errorf("fileFormatVersion %q: expected 1.0.0", version)
	}
	m := &Manifest{}
	if m.RootID, err = jsonString(top, "rootModelIdentifier"); err != nil {
		return nil, err
	}
	var items map[string]map[string]json.RawMessage
	if err := json.Unmarshal(top["itemInfoEntries"], &items); err != nil {
		return nil, fmt.Errorf("itemInfoEntries: %w", err)
	}
	if len(items) > maxItems {
		return nil, fmt.Errorf("%d items, the limit is %d; a package has two", len(items), maxItems)
	}
	for id, fields := range items {
		it := Item{ID: id}
		for _, f := range it.fields() {
			if *f.value, err = jsonString(fields, f.key); err != nil {
				return nil, fmt.Errorf("item %q: %w", id, err)
			}
		}
		if it.Path, err = plainPath(it.Path); err != nil {
			return nil, fmt.Errorf("item %q: %w", id, err)
		}
		m.Items = append(m.Items, it)
	}
	slices.SortFunc(m.Items, func(a, b Item) int { return cmp.Compare(a.ID, b.ID) })
	return m, nil
}

type itemField struct {
	key   string
	value *string
}

func (it *Item) fields() []itemField {
	return []itemField{{"author", &it.Author}, {"description", &it.Description}, {"name", &it.Name}, {"path", &it.Path}}
}

func jsonString(m map[string]json.RawMessage, key string) (string, error) {
	raw, ok := m[key]
	if !ok {
		return "", fmt.Errorf("%s is missing", key)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s: expected a string", key)
	}
	return s, nil
}

// Root returns the item that holds the model.
func (m *Manifest) Root() (Item, error) {
	for _, it := range m.Items {
		if it.ID == m.RootID {
			return it, nil
		}
	}
	return Item{}, fmt.Errorf("rootModelIdentifier %q is none of the %d items", m.RootID, len(m.Items))
}

// Encode writes the manifest as coremltools lays it out: keys sorted, four
// spaces.
func (m *Manifest) Encode() ([]byte, error) {
	items := map[string]map[string]string{}
	for _, it := range m.Items {
		fields := map[string]string{}
		for _, f := range it.fields() {
			fields[f.key] = *f.value
		}
		items[it.ID] = fields
	}
	top := map[string]any{"fileFormatVersion": "1.0.0", "itemInfoEntries": items, "rootModelIdentifier": m.RootID}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	err := e.Encode(top)
	return b.Bytes(), err
}

// contentID derives a UUID from what an item is and holds: version 8 of RFC
// 9562, whose bits are the writer's own.
func contentID(path string, digest []byte) string {
	h := sha256.New()
	h.Write([]byte("coreml-gate item\x00" + path + "\x00"))
	h.Write(digest)
	u := h.Sum(nil)[:16]
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16]))
}
