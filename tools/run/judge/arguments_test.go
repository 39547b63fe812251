package judge

import (
	"slices"
	"testing"
)

func TestSplitArguments(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                  nil,
		"  ":                                nil,
		"whisper-cli -m a.bin\t-f x":        {"whisper-cli", "-m", "a.bin", "-f", "x"},
		`-m "sp é/ggml x.bin" -f 'j k.mp3'`: {"-m", "sp é/ggml x.bin", "-f", "j k.mp3"},
		`-m sp\ é/ggml\ x.bin`:              {"-m", "sp é/ggml x.bin"},
		`-m a" b"c.bin -t ''`:               {"-m", "a bc.bin", "-t", ""},
		`-m it's.bin -np`:                   {"-m", "it's.bin", "-np"},
		`-m "it's a.bin" -np`:               {"-m", "it's a.bin", "-np"},
		`-m 'a\ b.bin'`:                     {"-m", `a\ b.bin`},
		`-m C:\models\a.bin`:                {"-m", `C:\models\a.bin`},
		`-m a\`:                             {"-m", `a\`},
	} {
		if got := SplitArguments(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestArgumentsWithBlanks: a path with blanks is one argument where the log has it in quotation marks, and named where it has not.
func TestArgumentsWithBlanks(t *testing.T) {
	const log = "whisper_init_from_file_with_params_no_state: loading model from 'a b.bin'\n"
	for argv, code := range map[string]string{
		`whisper-cli -m "a b.bin" -f x.wav -np`: "LOG_SILENCED",
		`whisper-cli -m 'a b.bin' -ac 512`:      "FORBIDDEN_ARGUMENT",
		`whisper-cli -m a b.bin -f x.wav`:       "MODEL_NAME",
	} {
		if j := judgeText(t, []byte("exit: 0\nargv: "+argv+"\n--- stderr\n"+log), "coreml"); firstCode(j) != code {
			t.Errorf("%s: %v, want %s", argv, j.Reasons, code)
		}
	}
}
