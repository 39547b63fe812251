package reason

// Words: codes.
const (
	WordsNoFixtures          = "WORDS_NO_FIXTURES"
	WordsSideMissing         = "WORDS_SIDE_MISSING"
	WordsNoAudio             = "WORDS_NO_AUDIO"
	WordsSidesUnlike         = "WORDS_SIDES_UNLIKE"
	WordsDuplicate           = "WORDS_DUPLICATE"
	WordsCoreMLEmpty         = "WORDS_COREML_EMPTY"
	WordsInSilence           = "WORDS_IN_SILENCE"
	WordsFileRate            = "WORDS_FILE_RATE"
	WordsCorpusRate          = "WORDS_CORPUS_RATE"
	WordsWorseThanGGML       = "WORDS_WORSE_THAN_GGML"
	WordsCoreMLChanged       = "WORDS_COREML_CHANGED"
	WordsCoreMLChangedCorpus = "WORDS_COREML_CHANGED_CORPUS"
	WordsCoreMLLoop          = "WORDS_COREML_LOOP"
	WordsStrictRate          = "WORDS_STRICT_RATE"
	WordsStrictChanged       = "WORDS_STRICT_CHANGED"
	WordsProbeCoreML         = "WORDS_PROBE_COREML"
	WordsProbeSides          = "WORDS_PROBE_SIDES"
	WordsTruncated           = "WORDS_TRUNCATED"
	WordsBudgetNarrow        = "WORDS_BUDGET_NARROW"
	WordsTooLong             = "WORDS_TOO_LONG"
	WordsDecodingDiffers     = "WORDS_DECODING_DIFFERS"
	WordsNondeterministic    = "WORDS_NONDETERMINISTIC"
	WordsProvisionalFew      = "WORDS_PROVISIONAL_FEW"
	WordsProvisionalSource   = "WORDS_PROVISIONAL_SOURCE"
	WordsProvisionalProbe    = "WORDS_PROVISIONAL_PROBE"
	WordsConversionChanged   = "WORDS_CONVERSION_CHANGED"
	WordsMerged              = "WORDS_MERGED"
	WordsLoop                = "WORDS_LOOP"
	WordsSilenceUpstream     = "WORDS_SILENCE_UPSTREAM"
)

var words = Table{
	{Code: WordsNoFixtures, Class: Fail, Means: "There are no recordings to judge.", Do: "Give at least one recording; policy says how many make a result final."},
	{Code: WordsSideMissing, Class: Fail, Means: "The run with ggml's own encoder or the run with the Core ML encoder is missing for a fixture.", Do: "Run whisper-cli in both flavours on the same audio and .bin."},
	{Code: WordsNoAudio, Class: Fail, Means: "A run did not process its audio to the end; whisper-cli exits 0 even when it cannot read a file.", Do: "See the run's log; check that the file decodes (wav, mp3, flac and ogg do)."},
	{Code: WordsSidesUnlike, Class: Refuse, Means: "The sides were not run on the same sources, .bin, audio or decoding, so their difference means nothing.", Do: "Run all sides again on the same inputs."},
	{Code: WordsDuplicate, Class: Refuse, Means: "The set contains the same audio twice in one language, so its words count twice.", Do: "Leave one out."},
	{Code: WordsCoreMLEmpty, Class: Fail, Means: "The Core ML side wrote nothing where another side heard words. A prediction that failed leaves exactly this, with a clean log.", Do: "Check the encoder's names, types and shapes (coregate inspect) and its numbers (coregate parity)."},
	{Code: WordsInSilence, Class: Fail, Means: "The Core ML side wrote words for a recording without speech in which another side heard nothing.", Do: "Compare the encoder's numbers on this recording (coregate parity)."},
	{Code: WordsFileRate, Class: Fail, Means: "In one fixture the hybrid's words differ from the source model's by more than the policy allows.", Do: "Read which side changed: if ggml agrees with the source, Core ML changed the answer; if ggml differs too, the conversion to .bin was already wrong."},
	{Code: WordsCorpusRate, Class: Fail, Means: "Over all fixtures the hybrid's words differ from the source model's by more than the policy allows.", Do: "See the fixtures with the most edits."},
	{Code: WordsWorseThanGGML, Class: Fail, Means: "The hybrid is further from the source model than ggml's own encoder is, by more than the policy allows.", Do: "Core ML changed the answer: check the encoder's precision and its numbers (coregate parity)."},
	{Code: WordsCoreMLChanged, Class: Fail, Means: "In one fixture the words change when the Core ML encoder takes the place of ggml's.", Do: "Core ML changed the answer: check the encoder's numbers on this recording (coregate parity)."},
	{Code: WordsCoreMLChangedCorpus, Class: Fail, Means: "Over all fixtures the words change more than the policy allows when the Core ML encoder takes the place of ggml's.", Do: "Check the encoder's precision and its numbers (coregate parity)."},
	{Code: WordsCoreMLLoop, Class: Fail, Means: "The Core ML side repeats a phrase without end where the other sides do not.", Do: "A stuck decoder often follows wrong encoder output: check the numbers on this recording (coregate parity)."},
	{Code: WordsStrictRate, Class: Fail, Means: "In the strict form, which merges no two different words, the hybrid's words differ from the source model's by more than the policy allows. The published normalisation may hide this: it drops vowel signs, tones, points, signs and currencies.", Do: "See the strict edits in report.json. If ggml's words have them too, the conversion to .bin was already wrong."},
	{Code: WordsStrictChanged, Class: Fail, Means: "In the strict form the words change by more than the policy allows when the Core ML encoder takes the place of ggml's.", Do: "Core ML changed the answer: check the encoder's numbers on this recording (coregate parity)."},
	{Code: WordsProbeCoreML, Class: Fail, Means: "On the probe item the source and ggml agree, and the Core ML side differs.", Do: "Core ML changed the answer; the full run would only repeat it."},
	{Code: WordsProbeSides, Class: Inconclusive, Means: "On the probe item the source and ggml already disagree, so the sides may not be set up alike.", Do: "Check that model, language and decoding settings are the same before a full run."},
	{Code: WordsTruncated, Class: Inconclusive, Means: "A side's text was cut, so an error rate on it measures the cut.", Do: "Raise the limit to at least twice the longest output seen, and run again."},
	{Code: WordsTooLong, Class: Inconclusive, Means: "A side's text is longer than is compared.", Do: "Split the recording."},
	{Code: WordsDecodingDiffers, Class: Inconclusive, Means: "The source transcript was decoded with other settings than the runs.", Do: "Make it again with the run's settings; the differing ones are listed."},
	{Code: WordsNondeterministic, Class: Inconclusive, Means: "With these settings upstream may write another text in every run.", Do: "Run with --temperature 0 --temperature-inc 0 and a stated language."},
	{Code: WordsProvisionalFew, Class: Note, Means: "There are fewer fixtures, or fewer words in them, than the policy wants; the result is provisional.", Do: "Add fixtures."},
	{Code: WordsProvisionalSource, Class: Note, Means: "A fixture has no transcript of the source model, so a wrong conversion to .bin would go unseen; the result is provisional.", Do: "Give the source model's transcript with model digest, tool, language, decoding settings and date."},
	{Code: WordsProvisionalProbe, Class: Note, Means: "No fixture in which something is said is marked as the probe item on which all sides have to agree first; the result is provisional.", Do: "Mark one."},
	{Code: WordsBudgetNarrow, Class: Note, Means: "A window's text has more than half of the tokens after which upstream stops a window: a longer one of the kind is cut, and its rate measures the cut.", Do: "Keep recordings of the kind that was measured, or shorter; WORDS_TRUNCATED says where one was cut."},
	{Code: WordsConversionChanged, Class: Note, Means: "ggml's own encoder already differs from the source model in a fixture: this part of the difference is the conversion's, not Core ML's.", Do: "Check the .bin against the source model."},
	{Code: WordsMerged, Class: Note, Means: "The published normalisation makes different words one, so its rate counts no edit where the texts differ.", Do: "Read the strict form's edits; they have thresholds of their own."},
	{Code: WordsLoop, Class: Note, Means: "Another side than Core ML repeats a phrase without end.", Do: "The model itself gets stuck on this recording: choose another, or shorten it."},
	{Code: WordsSilenceUpstream, Class: Note, Means: "All sides write words for a recording without speech: upstream does, whatever the encoder.", Do: "Nothing; the texts are compared as they are."},
}
