package evidence

import "testing"

// TestSaid: what a decoder writes of silence, of NaN or of music is no word, however it is dressed.
func TestSaid(t *testing.T) {
	for _, text := range []string{
		"", " ", "\n\n", "...", "…", "!!!!!!!!", "。。。", "¿?", ">> ", "- ", "♪♪♪", "\u2800\u2800", "\u200b\u2060\ufeff", "\u200f\u200e", "\u0301", "😀",
		"\x1b[38;5;160m\x1b[0m", "[BLANK_AUDIO]", " [ Silence ]", "[Music]", "[BLANK_AUD", "[_TT_50]", "<|nospeech|>", "<|0.00|>",
		"(music)", "(upbeat music)\n(music continues)", "( (a) b )", "[a (b) c]", "*sighs*", "（音楽）", "【音楽】", "＊音楽＊", "［音］",
		"[00:00:00.000 --> 00:00:11.000]", "[00:00:00,000 --> 00:00:11,000]  (Musik)", "00:00.000 --> 00:11.000",
	} {
		if Said(text) || len(Words(text)) > 0 {
			t.Errorf("%q says something: %q", text, Words(text))
		}
	}
	for _, text := range []string{"a", "0", "é", "e\u0301", "१२", "ー", "♪ la ♪", "(music) yes", "2 * 3", "* a point", "no) music (", "[00:00:00.000 --> 00:00:01.000] a", "\x1b[31ma\x1b[0m"} {
		if !Said(text) {
			t.Errorf("%q says nothing", text)
		}
	}
}
