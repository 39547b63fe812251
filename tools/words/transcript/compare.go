package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/words/transcript/editdist"
)

// MaxTextBytes bounds a side's text; about a day of speech. A longer one is not compared.
const MaxTextBytes = 1 << 20

// Heard is what one run of whisper-cli wrote, and what it was run on.
type Heard struct {
	// Text is standard output, unchanged.
	Text string
	// StdoutSHA256 is of standard output as evidence of the run has it (normalised), so that report and evidence
	// can be compared without the words.
	StdoutSHA256 string
	// Sources names what the binary was built from (pin, manifest and patch); the two runs must agree.
	// It is compared, and never shown but as a digest.
	Sources string
	// ModelSHA256 and AudioSHA256 are of the .bin and of the audio file.
	ModelSHA256, AudioSHA256 string
	Decoding                 Decoding
	// Processed says that the log shows audio being processed. Upstream exits 0 when it cannot read a file.
	Processed bool
	// Truncated says that the text was cut, by a limit of the runner or of the decoder.
	Truncated bool
}

// Fixture is one recording and what each side heard in it.
type Fixture struct {
	// Name is kept in evidence only if Public; otherwise the fixture is called by its audio's digest.
	Name string
	// Public says that words, name and audio may be shown.
	Public bool
	// Language as whisper-cli takes it.
	Language string
	// Silence says that nothing is spoken in it.
	Silence bool
	// Probe marks the item on which all sides have to agree before the others say anything.
	Probe bool
	// Source is the source model's own transcript; nil where there is none.
	Source *Source
	// Human is what a person wrote down; informative, "" where there is none.
	Human string
	// GGML and CoreML are the runs without and with the Core ML encoder; nil where one is missing.
	GGML, CoreML *Heard
}

// Comparison is what evidence keeps of a fixture: digests and counts, and words only if it is public.
type Comparison struct {
	Fixture     string `json:"fixture"`
	Public      bool   `json:"public"`
	Language    string `json:"language"`
	Profile     string `json:"profile"`
	Unit        Unit   `json:"unit"`
	Silence     bool   `json:"silence"`
	Probe       bool   `json:"probe"`
	AudioSHA256 string `json:"audio_sha256"`
	ModelSHA256 string `json:"model_sha256"`
	// Origin says where the source transcript is from; nil where there is none.
	Origin *Origin `json:"origin"`
	// Sides; nil where one is missing.
	Source *Side `json:"source"`
	GGML   *Side `json:"ggml"`
	CoreML *Side `json:"coreml"`
	Human  *Side `json:"human"`
	// Deltas, reference second; nil where a side is missing or was not compared.
	CoreMLSource *Delta `json:"coreml_source"`
	CoreMLGGML   *Delta `json:"coreml_ggml"`
	GGMLSource   *Delta `json:"ggml_source"`
	CoreMLHuman  *Delta `json:"coreml_human"`
	SourceHuman  *Delta `json:"source_human"`
	// Unlike lists what the sides do not have in common, though they must; Decoding the settings in which the source
	// was decoded otherwise; Nondeterminism what lets upstream itself answer differently next time.
	Unlike         []string `json:"unlike"`
	Decoding       []string `json:"decoding"`
	Nondeterminism []string `json:"nondeterminism"`
	// Words is nil unless the fixture is public.
	Words *PublicWords `json:"words"`
}

// Side is what is kept of one side's text.
type Side struct {
	// TextSHA256 is of the text as written, NormalizedSHA256 of the standardised one.
	TextSHA256 string `json:"text_sha256"`
	// StdoutSHA256 is as in [Heard]; "" for source and human.
	StdoutSHA256     string `json:"stdout_sha256"`
	NormalizedSHA256 string `json:"normalized_sha256"`
	Units            int    `json:"units"`
	// StrictSHA256 and StrictUnits are of the text in its strict form.
	StrictSHA256 string `json:"strict_sha256"`
	StrictUnits  int    `json:"strict_units"`
	Characters   int    `json:"characters"`
	Processed    bool   `json:"processed"`
	Truncated    bool   `json:"truncated"`
	// TooLong says that the text exceeded MaxTextBytes: no counts, no deltas.
	TooLong bool   `json:"too_long"`
	Loops   []Loop `json:"loops"`
}

// Delta is how one text differs from another.
type Delta struct {
	Units Counts `json:"units"`
	// Strict counts units of the strict form, in which no two different words are one.
	Strict Counts `json:"strict"`
	// Merged is how many of the strict form's edits the published rules hide: both texts become the same there.
	Merged int `json:"merged"`
	// Characters is nil where the units are characters already.
	Characters *Counts `json:"characters"`
}

// Counts are [editdist.Counts] in JSON.
type Counts struct {
	Hits          int `json:"hits"`
	Substitutions int `json:"substitutions"`
	Insertions    int `json:"insertions"`
	Deletions     int `json:"deletions"`
}

// PublicWords are the standardised texts of a public fixture and the alignment of hybrid against source (or against
// ggml where there is no source).
type PublicWords struct {
	Source string `json:"source"`
	GGML   string `json:"ggml"`
	CoreML string `json:"coreml"`
	Human  string `json:"human"`
	// Strict are the texts in their strict form.
	Strict StrictWords `json:"strict"`
	// Merged are the first words, at most twenty, that the published rules merge: reference and hybrid.
	Merged [][2]string `json:"merged"`
	// Aligned is a list of [operation, reference start, end, hypothesis start, end], in units.
	Aligned []Aligned `json:"aligned"`
}

// StrictWords are the texts of a public fixture in their strict form.
type StrictWords struct {
	Source string `json:"source"`
	GGML   string `json:"ggml"`
	CoreML string `json:"coreml"`
	Human  string `json:"human"`
}

// Aligned is one chunk of an alignment.
type Aligned struct {
	Op       string `json:"op"`
	RefStart int    `json:"ref_start"`
	RefEnd   int    `json:"ref_end"`
	HypStart int    `json:"hyp_start"`
	HypEnd   int    `json:"hyp_end"`
}

// Compare counts what the sides of a fixture heard. It is a pure function and never fails: what is missing or does not
// fit together is in the result, and [Judge] says what that means.
func Compare(f Fixture) Comparison {
	profile := ProfileFor(f.Language)
	c := Comparison{
		Fixture: f.Name, Public: f.Public, Language: f.Language, Profile: profile.Name, Unit: profile.Unit,
		Silence: f.Silence, Probe: f.Probe, Unlike: []string{}, Decoding: []string{}, Nondeterminism: []string{},
	}
	var source, ggml, coreml, human texts
	if f.Source != nil {
		c.Origin = &f.Source.Origin
		c.Source, source = sideOf(profile, f.Source.Text, true, f.Source.Truncated)
	}
	if f.GGML != nil {
		c.GGML, ggml = sideOf(profile, f.GGML.Text, f.GGML.Processed, f.GGML.Truncated)
		c.GGML.StdoutSHA256 = identity(f.GGML.StdoutSHA256)
	}
	if f.CoreML != nil {
		c.CoreML, coreml = sideOf(profile, f.CoreML.Text, f.CoreML.Processed, f.CoreML.Truncated)
		c.CoreML.StdoutSHA256 = identity(f.CoreML.StdoutSHA256)
		c.AudioSHA256, c.ModelSHA256 = identity(f.CoreML.AudioSHA256), identity(f.CoreML.ModelSHA256)
		c.Nondeterminism = append(c.Nondeterminism, f.CoreML.Decoding.Nondeterminism()...)
	}
	if f.Human != "" {
		c.Human, human = sideOf(profile, f.Human, true, false)
	}
	if !f.Public {
		c.Fixture = neutralName(c.AudioSHA256)
	}
	if !languageName.MatchString(f.Language) {
		c.Language = "unknown"
		c.Unlike = append(c.Unlike, "language: expected a code or name in lower case")
	}
	c.likeness(f)
	var shown alignment
	c.CoreMLGGML, shown = delta(profile, c.GGML, c.CoreML, ggml, coreml)
	if d, better := delta(profile, c.Source, c.CoreML, source, coreml); d != nil {
		c.CoreMLSource, shown = d, better
	}
	c.GGMLSource, _ = delta(profile, c.Source, c.GGML, source, ggml)
	c.CoreMLHuman, _ = delta(profile, c.Human, c.CoreML, human, coreml)
	c.SourceHuman, _ = delta(profile, c.Human, c.Source, human, source)
	if f.Public {
		c.Words = &PublicWords{
			Source: source.published, GGML: ggml.published, CoreML: coreml.published, Human: human.published,
			Strict:  StrictWords{source.strict, ggml.strict, coreml.strict, human.strict},
			Aligned: aligned(shown.published), Merged: shown.merged,
		}
		if c.Words.Merged == nil {
			c.Words.Merged = [][2]string{}
		}
	}
	return c
}

// Agree reports whether all sides of a fixture that are there heard the whole of it and wrote the same words, as a probe
// item's must.
func Agree(c Comparison) bool {
	if c.CoreML == nil || c.GGML == nil || len(c.Unlike) > 0 {
		return false
	}
	for _, s := range c.sides() {
		if !s.side.Processed || s.side.Truncated || s.side.TooLong || s.side.Units == 0 && !c.Silence {
			return false
		}
	}
	return c.CoreMLGGML.Units.Edits() == 0 && (c.CoreMLSource == nil || c.CoreMLSource.Units.Edits() == 0)
}

// neutralName calls a private fixture by its audio.
func neutralName(audio string) string {
	return "private-" + shown(audio)
}

// texts are one side's words in both forms.
type texts struct{ published, strict string }

// sideOf keeps what may be kept of a text and gives its standardised forms, empty if it is too long.
func sideOf(p Profile, text string, processed, truncated bool) (*Side, texts) {
	s := &Side{TextSHA256: digest(text), Processed: processed, Truncated: truncated, Loops: []Loop{}}
	if len(text) > MaxTextBytes {
		s.TooLong = true
		return s, texts{}
	}
	t := texts{strings.Join(p.Units(text), " "), p.Strict(strings.ToValidUTF8(text, "\uFFFD"))}
	if t.published == "" {
		t.strict = ""
	}
	s.NormalizedSHA256, s.StrictSHA256 = digest(t.published), digest(t.strict)
	units := Words(t.published)
	s.Units, s.Characters, s.StrictUnits = len(units), len([]rune(t.published)), len(Words(t.strict))
	s.Loops = append(s.Loops, Loops(units)...)
	return s, t
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// likeness lists what the sides must have in common and have not.
func (c *Comparison) likeness(f Fixture) {
	differ := func(what, a, b string) {
		if a != b {
			c.Unlike = append(c.Unlike, fmt.Sprintf("%s: %s, %s", what, shown(a), shown(b)))
		}
	}
	if f.GGML != nil && f.CoreML != nil {
		differ("sources of ggml and coreml", f.GGML.Sources, f.CoreML.Sources)
		differ("model of ggml and coreml", f.GGML.ModelSHA256, f.CoreML.ModelSHA256)
		differ("audio of ggml and coreml", f.GGML.AudioSHA256, f.CoreML.AudioSHA256)
		for _, d := range f.GGML.Decoding.Differences(f.CoreML.Decoding) {
			c.Unlike = append(c.Unlike, "decoding of ggml and coreml: "+d)
		}
	}
	if f.Source != nil && f.CoreML != nil {
		differ("model of source and coreml", f.Source.ModelSHA256, f.CoreML.ModelSHA256)
		differ("audio of source and coreml", f.Source.AudioSHA256, f.CoreML.AudioSHA256)
		c.Decoding = append(c.Decoding, f.Source.Decoding.Differences(f.CoreML.Decoding)...)
	}
}

// shown is the beginning of an identity.
func shown(s string) string {
	if s == "" {
		return "unknown"
	}
	return identity(s)[:12]
}

// identity is a SHA-256, unchanged, and of anything else its digest: free text is not kept.
func identity(s string) string {
	if s == "" || hexDigest.MatchString(s) {
		return s
	}
	return digest(s)
}

// alignment is what a public fixture shows of two aligned sides.
type alignment struct {
	published []editdist.Chunk
	merged    [][2]string
}

// delta aligns two sides, or gives nil if one is missing or too long.
func delta(p Profile, ref, hyp *Side, refText, hypText texts) (*Delta, alignment) {
	if ref == nil || hyp == nil || ref.TooLong || hyp.TooLong {
		return nil, alignment{}
	}
	counts, chunks := WordErrors(refText.published, hypText.published)
	strict, strictChunks := WordErrors(refText.strict, hypText.strict)
	d := &Delta{Units: Counts(counts), Strict: Counts(strict)}
	shown := alignment{published: chunks}
	d.Merged, shown.merged = mergedWords(p, refText.strict, hypText.strict, strictChunks)
	if p.Unit == WordUnit {
		counts, _ := CharacterErrors(refText.published, hypText.published)
		c := Counts(counts)
		d.Characters = &c
	}
	return d, shown
}

// maxMerged is how many merged words a report shows.
const maxMerged = 20

// mergedWords counts the units in which the strict forms differ and the published ones do not, and gives the first.
func mergedWords(p Profile, ref, hyp string, chunks []editdist.Chunk) (int, [][2]string) {
	refWords, hypWords := Words(ref), Words(hyp)
	published := func(words []string) string { return strings.TrimSpace(p.Normalize(strings.Join(words, " "))) }
	n, list := 0, [][2]string(nil)
	for _, k := range chunks {
		a, b := refWords[k.RefStart:k.RefEnd], hypWords[k.HypStart:k.HypEnd]
		if k.Op == editdist.Equal {
			continue
		}
		for _, pair := range mergedPairs(a, b, published) {
			n += max(len(pair[0]), len(pair[1]))
			if len(list) < maxMerged {
				list = append(list, [2]string{strings.Join(pair[0], " "), strings.Join(pair[1], " ")})
			}
		}
	}
	return n, list
}

// mergedPairs gives the parts of a chunk that have one published form: the whole, or single words in each other's place.
func mergedPairs(ref, hyp []string, published func([]string) string) (pairs [][2][]string) {
	if published(ref) == published(hyp) {
		return [][2][]string{{ref, hyp}}
	}
	if len(ref) != len(hyp) {
		return nil
	}
	for i := range ref {
		if a, b := ref[i:i+1], hyp[i:i+1]; published(a) == published(b) {
			pairs = append(pairs, [2][]string{a, b})
		}
	}
	return pairs
}

func aligned(chunks []editdist.Chunk) []Aligned {
	list := make([]Aligned, 0, len(chunks))
	for _, k := range chunks {
		list = append(list, Aligned{k.Op.String(), k.RefStart, k.RefEnd, k.HypStart, k.HypEnd})
	}
	return list
}
