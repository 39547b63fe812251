// Package speech makes the recordings that the words gates hear (docs/transcripts.md) from free sources: real speech
// unchanged, and what is derived from it: a long file, clipping, other channels, rates and formats,
// silence, and a file that is not a recording. Equal sources give equal bytes, and each recording's SHA-256 is pinned here,
// since the checked-in transcripts are of those bytes.
package speech

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Recording is one of what is made.
type Recording struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Language as whisper-cli takes it.
	Language string `json:"language"`
	SHA256   string `json:"sha256"`
	// Human are the words as the source's makers give them, "" where they give none.
	Human string `json:"human"`
	// Silence says that nothing is spoken in it.
	Silence bool `json:"silence"`
	// Why says what it is there for.
	Why string `json:"why"`

	// source is the path of what it is made from in its package, "" for what is made from other recordings.
	source string
	// derive makes it from other recordings.
	derive func(of map[string]*sound) ([]byte, error)
}

// List is the form of the file that lists recordings.
type List struct {
	Schema   int         `json:"schema"` // 1
	Fixtures []Recording `json:"fixtures"`
}

// Make writes every recording and their list, fixtures.json, into a folder that exists. sources are files whose paths
// end in the path that they have in their package. It refuses a recording that is not the pinned one.
func Make(sources []string, out string) error {
	sounds := map[string]*sound{}
	for _, r := range recordings {
		data, err := r.bytes(sources, sounds)
		if err != nil {
			return fmt.Errorf("recording %s: %w", r.Name, err)
		}
		sum := sha256.Sum256(data)
		if found := hex.EncodeToString(sum[:]); found != r.SHA256 {
			return fmt.Errorf("recording %s: expected SHA-256 %s, found %s: its source is another version than the pinned one (third_party/speech)", r.Name, r.SHA256, found)
		}
		if err := os.WriteFile(filepath.Join(out, r.File), data, 0o644); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(List{1, recordings}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "fixtures.json"), append(data, '\n'), 0o644)
}

// bytes gives the recording's file, and keeps what it holds for those that are made of it.
func (r Recording) bytes(sources []string, sounds map[string]*sound) ([]byte, error) {
	if r.derive != nil {
		return r.derive(sounds)
	}
	i := slices.IndexFunc(sources, func(path string) bool { return strings.HasSuffix(filepath.ToSlash(path), "/"+r.source) })
	if i < 0 {
		return nil, fmt.Errorf("no source ends in %s: expected the file of that path among the sources", r.source)
	}
	data, err := os.ReadFile(sources[i])
	if err != nil {
		return nil, err
	}
	s, err := readSound(data, strings.HasSuffix(r.source, ".raw"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.source, err)
	}
	sounds[r.Name] = s
	return s.wav(1), nil
}
