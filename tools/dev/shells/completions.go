package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// questions are lines with the cursor at their end, and words that must be offered there.
var questions = []struct {
	line string
	want []string
}{
	{"coregate ver", []string{"verify", "version"}},
	{"coregate pin ", []string{"candidate", "make", "manifest", "verify"}},
	{"coregate verify --la", []string{"--lane"}},
	{"coregate verify --lane ", []string{"emulated", "physical"}},
	{"coregate completion ", []string{"bash", "fish", "zsh"}},
	{"coregate explain CANARY_SIG", []string{reason.CanarySignal}},
	{"coregate report --format j", []string{"junit"}},
}

// bashScript asks bash for completions through its package bash-completion, which loads ours as it does for a person.
const bashScript = `
source ` + bashCompletion + `
source <(coregate completion bash)
line=$1
COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9
read -ra COMP_WORDS <<<"$line"
[[ $line == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
__start_coregate
printf '%s\n' "${COMPREPLY[@]}"
`

// zshScript types a line into an interactive zsh, after its prompt, and presses Tab; what is offered is listed below the line.
const zshScript = `
zmodload zsh/zpty
zpty z env HOME=$HOME TERM=dumb zsh -f -i
zpty -w z 'PROMPT="<""P>"; fpath=('$PWD'/zfunc $fpath); autoload -Uz compinit; compinit -u -d '$PWD'/dump; zstyle ":completion:*" list-grouped false; zstyle ":completion:*" verbose false; setopt no_list_beep no_always_last_prompt; LISTMAX=1000'
zpty -r -m z line '*<P>*'
zpty -w -n z "$1"$'\t\t'
zpty -w -n z $'\x15print "DO""NE"\n'
zpty -r -m z out '*DONE*'
print -r -- $out
zpty -d z
`

func (t *trial) completions(ctx context.Context) {
	functions := filepath.Join(t.dir, "zfunc")
	script, code := t.call(ctx, nil, filepath.Join(t.dir, "coregate"), "completion", "zsh")
	err := os.Mkdir(functions, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(functions, "_coregate"), []byte(script), 0o644)
	}
	t.check(code == 0 && err == nil, "zsh: exit %d, %v", code, err)
	for _, q := range questions {
		for shell, ask := range map[string]func() (string, int){
			"bash": func() (string, int) { return t.call(ctx, nil, "bash", "--norc", "-c", bashScript, "bash", q.line) },
			"zsh":  func() (string, int) { return t.call(ctx, nil, "zsh", "-f", "-c", zshScript, "zsh", q.line) },
			"fish": func() (string, int) {
				return t.call(ctx, nil, "fish", "--no-config", "-c", "coregate completion fish | source; complete -C "+quote(q.line))
			},
		} {
			out, code := ask()
			t.check(code == 0 && offers(shell, q.line, out, q.want), "%s: %q: exit %d, want %q, found %q", shell, q.line, code, q.want, out)
		}
	}
}

// offers says whether a shell's answer has all words, and none of coregate's others.
func offers(shell, line, out string, want []string) bool {
	words := strings.FieldsFunc(out, func(r rune) bool { return strings.ContainsRune(" \t\r\n\x07\x1b()[]", r) })
	for _, w := range want {
		// One that is alone is typed into the line by zsh.
		if !slices.Contains(words, w) {
			return false
		}
	}
	for _, other := range []string{"judge", "inspect", "--key", "html"} {
		if slices.Contains(words, other) && !slices.Contains(want, other) && !(shell == "zsh" && strings.Contains(line, other)) {
			return false
		}
	}
	return true
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `\'`) + "'" }
