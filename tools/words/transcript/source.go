package transcript

import (
	"fmt"
	"regexp"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// Source is a source model's own transcript of one recording.
type Source struct {
	Origin Origin
	// ModelSHA256 is of the .bin that holds the same weights, AudioSHA256 of the audio file.
	ModelSHA256, AudioSHA256 string
	Decoding                 Decoding
	Text                     string
	// Human is what a person wrote down of the same recording, "" where nobody did.
	Human string
	// Truncated says that a window reached the decoder's limit of tokens.
	Truncated bool
}

// Origin says where a source transcript comes from.
type Origin struct {
	// SourceModelSHA256 is of the source model's weights file, as the tool read it.
	SourceModelSHA256 string `json:"source_model_sha256"`
	// Tool with version and numeric type, such as "ctranslate2 4.8.5, float32".
	Tool string `json:"tool"`
	// Date of the run, YYYY-MM-DD.
	Date string `json:"date"`
}

// SourceFile is the form of a file of source transcripts: one model, one tool, many recordings.
type SourceFile struct {
	Schema      int          `json:"schema"` // 1
	Origin      Origin       `json:"origin"`
	Model       string       `json:"model"` // for people: "tiny.en"
	ModelSHA256 string       `json:"model_sha256"`
	Recordings  []SourceText `json:"recordings"`
}

// SourceText is one recording's entry of a source file.
type SourceText struct {
	Name        string   `json:"name"`
	AudioSHA256 string   `json:"audio_sha256"`
	Decoding    Decoding `json:"decoding"`
	Text        string   `json:"text"`
	Human       string   `json:"human"`
	Truncated   bool     `json:"truncated"`
}

var (
	languageName = regexp.MustCompile(`^[a-z]{2,13}( [a-z]{1,12})?$`)
	hexDigest    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// toolName has no slash, so that no path of anyone's machine gets into evidence with it.
	toolName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._+(),-]{0,79}$`)
)

// ParseSources reads a file of source transcripts. It refuses one that does not state its model, tool, decoding and
// date: a transcript of unknown origin is not a reference.
func ParseSources(data []byte) (*SourceFile, error) {
	f := &SourceFile{}
	if err := strictjson.Decode(data, f); err != nil {
		return nil, fmt.Errorf("source transcripts: %w", err)
	}
	if f.Schema != 1 {
		return nil, fmt.Errorf("source transcripts: schema is %d, expected 1", f.Schema)
	}
	for _, d := range []struct{ field, value string }{{"model_sha256", f.ModelSHA256}, {"origin.source_model_sha256", f.Origin.SourceModelSHA256}} {
		if !hexDigest.MatchString(d.value) {
			return nil, fmt.Errorf("source transcripts: %s is %q, expected a SHA-256 in lower-case hexadecimal", d.field, d.value)
		}
	}
	if !toolName.MatchString(f.Origin.Tool) {
		return nil, fmt.Errorf("source transcripts: origin.tool is %q, expected its name and version in at most 80 letters, digits, spaces and ._+(),-", f.Origin.Tool)
	}
	if _, err := time.Parse(time.DateOnly, f.Origin.Date); err != nil {
		return nil, fmt.Errorf("source transcripts: origin.date is %q, expected YYYY-MM-DD", f.Origin.Date)
	}
	// A file of source transcripts holds words and names that may be private: what is wrong with a recording is said by its
	// number, in an error that a build prints.
	seen := map[[2]string]int{}
	for i, r := range f.Recordings {
		heard := [2]string{r.AudioSHA256, languageCode(r.Decoding.Language)}
		switch {
		case !hexDigest.MatchString(r.AudioSHA256):
			return nil, fmt.Errorf("source transcripts: recording %d: audio_sha256 is something else: expected a SHA-256 in lower-case hexadecimal", i+1)
		case !languageName.MatchString(r.Decoding.Language) || r.Decoding.Task == "" || r.Decoding.BeamSize < 1:
			return nil, fmt.Errorf("source transcripts: recording %d: decoding has language %.12q, task %.12q and beam_size %d: state how the text was decoded",
				i+1, r.Decoding.Language, r.Decoding.Task, r.Decoding.BeamSize)
		case seen[heard] > 0:
			return nil, fmt.Errorf("source transcripts: recordings %d and %d are of the same audio and language: expected one", seen[heard], i+1)
		}
		seen[heard] = i + 1
	}
	return f, nil
}

// Lookup finds the transcript of a recording by its audio's digest and language; nil if the file has none.
func (f *SourceFile) Lookup(audioSHA256, language string) *Source {
	for _, r := range f.Recordings {
		if r.AudioSHA256 == audioSHA256 && r.Decoding.Language == language {
			return &Source{
				Origin: f.Origin, ModelSHA256: f.ModelSHA256, AudioSHA256: r.AudioSHA256, Decoding: r.Decoding,
				Text: r.Text, Human: r.Human, Truncated: r.Truncated,
			}
		}
	}
	return nil
}
