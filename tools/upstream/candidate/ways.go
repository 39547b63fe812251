package candidate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	exits    = regexp.MustCompile(`\b(?:return|throw)\b`)
	jumps    = regexp.MustCompile(`\bgoto\b`)
	word     = regexp.MustCompile(`\b[A-Za-z_]\w*`)
	leaves   = regexp.MustCompile(`\b(?:return|throw|goto|whisper_free_state|whisper_batch_free)\b`)
	freeing  = regexp.MustCompile(`\bwhisper_(?:free_state|batch_free)\b`)
	holders  = regexp.MustCompile(`_ptr\s*<\s*(?:struct\s+)?whisper_state\b`)
	function = regexp.MustCompile(`\b(\w+)\s*\([^;{}()]*\)\s*\{`)
	keywords = []string{"if", "for", "while", "switch", "catch"}
)

// earlyReturns lists the exits of whisper_init_state before the batch is assigned (returns, and what is thrown); those in
// a lambda leave the lambda only. Ways that cannot be followed make the batch not understood.
func (b *Batch) earlyReturns(c *source, open int, body code, state string) {
	b.hiddenWays(c, body, state)
	frees := regexp.MustCompile(`\b(?:` + strings.Join(c.freers(), "|") + `)\s*\((?:[^()]*,)?\s*` + state + `\s*(?:,[^()]*)?\)`)
	calls := frees.FindAllIndex(body, -1)
	plain := regexp.MustCompile(`\bwhisper_free_state\s*\(\s*` + state + `\s*\)`)
	if len(plain.FindAll(body, -1)) != len(freeing.FindAll(body, -1)) {
		b.unread("whisper_init_state frees otherwise than by whisper_free_state(" + state + ")")
	}
	used, callsAround := make([]bool, len(calls)), make([][]int, len(calls))
	for i, call := range calls {
		callsAround[i] = blocksAround(body, call[0])
	}
	for _, m := range exits.FindAllIndex(body, -1) {
		around := blocksAround(body, m[0])
		if inLambda(body, around) {
			continue
		}
		statement := m[0] + strings.IndexByte(string(body[m[0]:])+";", ';')
		r := Return{Line: c.line(open + m[0])}
		for i, call := range calls {
			// What was freed on the way: in the statement itself, and before it in its own block and every one around it. A
			// call in a block that has closed belongs to another way out.
			if call[0] < statement && (call[0] > m[0] || prefixOf(callsAround[i], around)) {
				r.Frees, used[i] = true, true
			}
		}
		r.Safe = !r.Frees || b.Initialised
		b.Returns = append(b.Returns, r)
	}
	if i := slices.Index(used, false); i >= 0 {
		b.unread(fmt.Sprintf("the state is freed at line %d, and no return follows in that block", c.line(open+calls[i][0])))
	}
}

// hiddenWays looks for ways out, and frees on them, that a reader of statements does not see.
func (b *Batch) hiddenWays(c *source, body code, state string) {
	if jumps.Match(body) {
		b.unread("whisper_init_state has a goto")
	}
	for _, name := range word.FindAllString(string(body), -1) {
		if c.leaving(name, map[string]bool{}) {
			b.unread("the macro " + name + " returns or frees")
		}
	}
	// An object that is made of the state may free it when it goes.
	held := regexp.MustCompile(`\b(\w+)(?:\s*<[^;{}]*>)?\s+\w+\s*[({]\s*` + state + `\s*[)}]\s*;`)
	for _, m := range held.FindAllSubmatch(body, -1) {
		if string(m[1]) != "return" {
			b.unread("the state is handed to an object of type " + string(m[1]))
		}
	}
	if holders.Match(body) {
		b.unread("the state is held by a smart pointer")
	}
}

// leaving says whether a macro's text, or that of a macro in it, returns or frees. Each macro is looked at once.
func (c *source) leaving(name string, seen map[string]bool) bool {
	text, ok := c.macros[name]
	if !ok || seen[name] {
		return false
	}
	seen[name] = true
	return leaves.MatchString(text) || slices.ContainsFunc(word.FindAllString(text, -1), func(inner string) bool { return c.leaving(inner, seen) })
}

// freers are the functions of the file that free a state, themselves or through others.
func (c *source) freers() []string {
	out := []string{"whisper_free_state"}
	type definition struct {
		name string
		body code
	}
	var all []definition
	for _, m := range function.FindAllSubmatchIndex(c.code, -1) {
		name := string(c.code[m[2]:m[3]])
		if end, ok := c.closing(m[1] - 1); ok && !slices.Contains(keywords, name) {
			all = append(all, definition{name, c.code[m[1]:end]})
		}
	}
	for grown := true; grown; {
		grown = false
		calls := regexp.MustCompile(`\b(?:` + strings.Join(out, "|") + `)\s*\(`)
		for _, d := range all {
			if !slices.Contains(out, d.name) && calls.Match(d.body) {
				out, grown = append(out, d.name), true
			}
		}
	}
	return out
}

// blocksAround are the offsets of the braces open at offset, the outermost first.
func blocksAround(body code, offset int) []int {
	var open []int
	for i := 0; i < offset; i++ {
		switch body[i] {
		case '{':
			open = append(open, i)
		case '}':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	return open
}

// prefixOf says whether what is open at one place is still open at another.
func prefixOf(open, around []int) bool {
	return len(open) <= len(around) && slices.Equal(open, around[:len(open)])
}

var lambdaHead = regexp.MustCompile(`\[[^\[\]]*\]\s*(\([^()]*\)\s*)?(mutable\s*)?(->\s*[\w:<>*& ]+)?$`)

func inLambda(body code, around []int) bool {
	for _, at := range around {
		if lambdaHead.Match([]byte(strings.TrimRight(string(body[max(0, at-200):at]), " \t\r\n"))) {
			return true
		}
	}
	return false
}

var (
	batchFree = regexp.MustCompile(`\bwhisper_batch_free\s*\(`)
	condition = regexp.MustCompile(`\bif\s*\(([^{};]*)\)\s*$`)
	ofState   = regexp.MustCompile(`^\s*\w+\s*(?:!=\s*(?:nullptr|NULL)\s*)?$`)
	aFlag     = regexp.MustCompile(`^\s*\w+\s*->\s*(\w+)\s*$`)
	ofBatch   = regexp.MustCompile(`->\s*batch\b`)
)

// guard looks at the conditions around the free of the batch in whisper_free_state.
func (b *Batch) guard(c *source, state, early code) {
	open, end, ok := c.block(freeFunction)
	if !ok {
		b.unread("no body of whisper_free_state, or more than one")
		return
	}
	body := c.code[open : end+1]
	calls := batchFree.FindAllIndex(body, -1)
	if len(calls) == 0 {
		b.unread("whisper_free_state does not call whisper_batch_free")
		return
	}
	at := calls[0][0]
	var guards []string
	for _, end := range append(blocksAround(body, at)[1:], at) {
		head := string(body[:end])
		m := condition.FindStringSubmatch(head[strings.LastIndexAny(head, ";{}")+1:])
		switch {
		case m == nil && end == at && strings.TrimSpace(head[strings.LastIndexAny(head, ";{}")+1:]) == "":
		case m == nil:
			guards = append(guards, "")
		case !ofState.MatchString(m[1]):
			guards = append(guards, m[1])
		}
	}
	b.FreeGuarded = len(guards) > 0
	if !b.FreeGuarded || b.Unsafe() == 0 {
		return
	}
	flag := aFlag.FindStringSubmatch(guards[0])
	switch {
	case len(calls) == 1 && len(guards) == 1 && flag != nil && falseFrom(state, early, flag[1]) && !c.isUnsure(open+at, open+at+1):
		b.How = "nothing, and " + flag[1] + " keeps it from being freed until it is assigned"
		for i := range b.Returns {
			b.Returns[i].Safe = true
		}
	case slices.ContainsFunc(guards, func(g string) bool { return !ofBatch.MatchString(g) }):
		b.unread("the batch is freed under a condition: " + strings.TrimSpace(strings.Join(guards, "; ")))
	}
	// A condition on the batch itself reads what was never written: it guards nothing.
}

// falseFrom says that a flag of the state is false from its declaration on and not written before the batch is.
func falseFrom(state, early code, flag string) bool {
	declared := regexp.MustCompile(`\bbool\s+`+flag+`\s*(?:=\s*false|\{\s*(?:false\s*)?\})\s*;`).FindAllIndex(state, -1)
	return len(declared) == 1 && len(blocksAround(state, declared[0][0])) == 1 &&
		!regexp.MustCompile(`\b`+flag+`\b`).Match(early)
}
