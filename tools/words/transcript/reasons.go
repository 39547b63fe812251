package transcript

import "github.com/coreml-gate/rules_coreml_gate/tools/base/reason"

// Reasons are the codes of this package.
var Reasons = reason.Table{
	{Code: "WORDS_NO_FIXTURES", Class: reason.Fail, Means: "There is no fixture to judge.", Do: "Give at least one recording; policy says how many make a result final."},
	{Code: "WORDS_SIDE_MISSING", Class: reason.Fail, Means: "The run with ggml's own encoder or the run with the Core ML encoder is missing for a fixture.", Do: "Run whisper-cli in both flavours on the same audio and .bin."},
	{Code: "WORDS_NO_AUDIO", Class: reason.Fail, Means: "A run did not process its audio to the end; whisper-cli exits 0 even when it cannot read a file.", Do: "See the run's log; check that the file decodes (wav, mp3, flac and ogg do)."},
	{Code: "WORDS_SIDES_UNLIKE", Class: reason.Refuse, Means: "The sides were not run on the same sources, .bin, audio or decoding, so their difference means nothing.", Do: "Run all sides again on the same inputs."},
	{Code: "WORDS_DUPLICATE", Class: reason.Refuse, Means: "The same audio stands in the set twice in one language, so that its words count twice and the set looks larger than it is.", Do: "Leave one out."},
	{Code: "WORDS_COREML_EMPTY", Class: reason.Fail, Means: "The Core ML side wrote nothing where another side heard words. A prediction that failed leaves exactly this, with a clean log.", Do: "Check the encoder's names, types and shapes (coregate inspect) and its numbers (coregate parity)."},
	{Code: "WORDS_IN_SILENCE", Class: reason.Fail, Means: "The Core ML side wrote words for a recording without speech in which another side heard nothing.", Do: "Compare the encoder's numbers on this recording (coregate parity)."},
	{Code: "WORDS_FILE_RATE", Class: reason.Fail, Means: "In one fixture the hybrid's words differ from the source model's by more than the policy allows.", Do: "Read which side changed: if ggml agrees with the source, Core ML changed the answer; if ggml differs too, the conversion to .bin was already wrong."},
	{Code: "WORDS_CORPUS_RATE", Class: reason.Fail, Means: "Over all fixtures the hybrid's words differ from the source model's by more than the policy allows.", Do: "See the fixtures with the most edits."},
	{Code: "WORDS_WORSE_THAN_GGML", Class: reason.Fail, Means: "The hybrid is further from the source model than ggml's own encoder is, by more than the policy allows.", Do: "Core ML changed the answer: check the encoder's precision and its numbers (coregate parity)."},
	{Code: "WORDS_COREML_CHANGED", Class: reason.Fail, Means: "In one fixture the words change when the Core ML encoder takes the place of ggml's.", Do: "Core ML changed the answer: check the encoder's numbers on this recording (coregate parity)."},
	{Code: "WORDS_COREML_CHANGED_CORPUS", Class: reason.Fail, Means: "Over all fixtures the words change more than the policy allows when the Core ML encoder takes the place of ggml's.", Do: "Check the encoder's precision and its numbers (coregate parity)."},
	{Code: "WORDS_COREML_LOOP", Class: reason.Fail, Means: "The Core ML side repeats a phrase without end where the other sides do not.", Do: "A stuck decoder often follows wrong encoder output: check the numbers on this recording (coregate parity)."},
	{Code: "WORDS_PROBE_COREML", Class: reason.Fail, Means: "On the probe item the source and ggml agree, and the Core ML side differs.", Do: "Core ML changed the answer; the full run would only repeat it."},
	{Code: "WORDS_PROBE_SIDES", Class: reason.Inconclusive, Means: "On the probe item the source and ggml already disagree, so the sides may not be set up alike.", Do: "Check that model, language and decoding settings are the same before a full run."},
	{Code: "WORDS_TRUNCATED", Class: reason.Inconclusive, Means: "A side's text was cut, so an error rate on it measures the cut.", Do: "Raise the limit to at least twice the longest output seen, and run again."},
	{Code: "WORDS_TOO_LONG", Class: reason.Inconclusive, Means: "A side's text is longer than is compared.", Do: "Split the recording."},
	{Code: "WORDS_DECODING_DIFFERS", Class: reason.Inconclusive, Means: "The source transcript was decoded with other settings than the runs.", Do: "Make it again with the run's settings; the differing ones are listed."},
	{Code: "WORDS_NONDETERMINISTIC", Class: reason.Inconclusive, Means: "With these settings upstream may write another text in every run.", Do: "Run with --temperature 0 --temperature-inc 0 and a stated language."},
	{Code: "WORDS_PROVISIONAL_FEW", Class: reason.Note, Means: "There are fewer fixtures, or fewer words in them, than the policy wants; the result is provisional.", Do: "Add fixtures."},
	{Code: "WORDS_PROVISIONAL_SOURCE", Class: reason.Note, Means: "A fixture has no transcript of the source model, so a wrong conversion to .bin would go unseen; the result is provisional.", Do: "Give the source model's transcript with model digest, tool, language, decoding settings and date."},
	{Code: "WORDS_PROVISIONAL_PROBE", Class: reason.Note, Means: "No fixture in which something is said is marked as the probe item on which all sides have to agree first; the result is provisional.", Do: "Mark one."},
	{Code: "WORDS_CONVERSION_CHANGED", Class: reason.Note, Means: "ggml's own encoder already differs from the source model in a fixture: this part of the difference is the conversion's, not Core ML's.", Do: "Check the .bin against the source model."},
	{Code: "WORDS_LOOP", Class: reason.Note, Means: "Another side than Core ML repeats a phrase without end.", Do: "The model itself gets stuck on this recording: choose another, or shorten it."},
	{Code: "WORDS_SILENCE_UPSTREAM", Class: reason.Note, Means: "All sides write words for a recording without speech: upstream does, whatever the encoder.", Do: "Nothing; the texts are compared as they are."},
}
