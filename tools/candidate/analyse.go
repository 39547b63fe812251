package candidate

import (
	"fmt"
	"regexp"
	"strings"
)

// Batch is what the source does with whisper_state's batch.
type Batch struct {
	// Line is where struct whisper_state declares it, 0 if it was not found.
	Line int `json:"line"`
	// Declaration is the declaration as it stands.
	Declaration string `json:"declaration"`
	// Initialised says that the batch holds no stale pointer from the start, and How by what.
	Initialised bool   `json:"initialised"`
	How         string `json:"how"`
	// Returns are those of whisper_init_state before the batch is assigned.
	Returns []Return `json:"early_returns"`
	// FreeGuarded says that the free of the batch stands under a condition besides that of the state itself.
	FreeGuarded bool `json:"free_guarded"`
	// Unread says what the reader could not make out; then nothing is taken for safe.
	Unread string `json:"unread"`
}

// Return is a return before the batch is assigned.
type Return struct {
	Line int `json:"line"`
	// Frees says that its block frees the state, and with it the batch.
	Frees bool `json:"frees_state"`
	Safe  bool `json:"safe"`
}

// Unsafe counts the returns that free a batch which holds stale pointers.
func (b *Batch) Unsafe() int {
	n := 0
	for _, r := range b.Returns {
		if !r.Safe {
			n++
		}
	}
	return n
}

// Safe says whether every early return is known to be safe.
func (b *Batch) Safe() bool { return b.Unread == "" && b.Unsafe() == 0 }

var (
	stateStruct  = regexp.MustCompile(`\bstruct\s+whisper_state\s*\{`)
	batchStruct  = regexp.MustCompile(`\bstruct\s+whisper_batch\s*\{`)
	batchMember  = regexp.MustCompile(`(?m)^[ \t]*(?:struct\s+)?whisper_batch\s+batch\s*([^;]*);`)
	pointer      = regexp.MustCompile(`\*+\s*\w+\s*([^;,]*);`)
	initFunction = regexp.MustCompile(`\bwhisper_init_state\s*\([^;{})]*\)\s*\{`)
	freeFunction = regexp.MustCompile(`\bwhisper_free_state\s*\([^;{})]*\)\s*\{`)
	newState     = regexp.MustCompile(`\bwhisper_state\s*\*?\s*(\w+)\s*=\s*new\s+whisper_state\s*(\(\s*\)|\{\s*\}|)\s*;`)
	constructor  = regexp.MustCompile(`\bwhisper_state\s*\(`)
	returns      = regexp.MustCompile(`\breturn\b`)
	batchFree    = regexp.MustCompile(`\bwhisper_batch_free\s*\(`)
)

// Analyse reads whisper.cpp's source for what concerns the batch.
func Analyse(text []byte) *Batch {
	c := blank(text)
	b := &Batch{Returns: []Return{}}
	open, end, ok := c.block(stateStruct)
	if !ok {
		return b.unread("no struct whisper_state")
	}
	state := c[open : end+1]
	m := batchMember.FindSubmatchIndex(state)
	if m == nil {
		return b.unread("struct whisper_state has no whisper_batch batch")
	}
	at := open + m[0]
	at += len(c[at:]) - len(strings.TrimLeft(string(c[at:]), " \t"))
	b.Line = c.line(at)
	b.Declaration = strings.TrimSpace(string(text[at : open+m[1]]))
	init := strings.TrimSpace(string(state[m[2]:m[3]]))

	open, end, ok = c.block(initFunction)
	if !ok {
		return b.unread("no body of whisper_init_state")
	}
	body := c[open : end+1]
	made := newState.FindSubmatchIndex(body)
	if made == nil {
		return b.unread("whisper_init_state does not make its state by `new whisper_state`")
	}
	name := string(body[made[2]:made[3]])
	b.initialised(c, init, string(body[made[4]:made[5]]), constructor.Match(state))
	b.earlyReturns(c, open, body, name)
	b.guard(c)
	return b
}

func (b *Batch) unread(why string) *Batch {
	b.Unread = why
	return b
}

// initialised says by which of the known ways the batch is free of stale pointers.
func (b *Batch) initialised(c code, init, brackets string, hasConstructor bool) {
	switch {
	case init == "= {}" || init == "{}" || strings.HasPrefix(init, "= {") || strings.HasPrefix(init, "{"):
		// An aggregate's members that the list leaves out are zero.
		b.Initialised, b.How = true, "the declaration's initialiser"
	case init != "":
		b.unread(fmt.Sprintf("the declaration's form `%s`", b.Declaration))
	case brackets != "" && !hasConstructor:
		// new T() and new T{} zero the object first if T has no constructor of its own.
		b.Initialised, b.How = true, "`new whisper_state"+brackets+"` zeroes the state"
	case membersInitialised(c):
		b.Initialised, b.How = true, "every pointer of struct whisper_batch has an initialiser"
	default:
		b.How = "nothing"
	}
}

func membersInitialised(c code) bool {
	open, end, ok := c.block(batchStruct)
	if !ok {
		return false
	}
	pointers := pointer.FindAllSubmatch(c[open:end], -1)
	for _, p := range pointers {
		if len(strings.TrimSpace(string(p[1]))) == 0 {
			return false
		}
	}
	return len(pointers) > 0
}

// earlyReturns lists the returns before the first assignment to the batch; those in a lambda leave the lambda only.
func (b *Batch) earlyReturns(c code, open int, body code, state string) {
	assigned := regexp.MustCompile(`\b` + state + `\s*->\s*batch\s*=[^=]`).FindIndex(body)
	limit := len(body)
	if assigned != nil {
		limit = assigned[0]
	}
	// An assignment in a nested block may not happen on every way; only one in the body itself counts.
	if assigned != nil && len(blocksAround(body, assigned[0])) > 1 {
		b.unread("the batch is assigned inside a nested block")
	}
	frees := regexp.MustCompile(`\bwhisper_free_state\s*\(\s*` + state + `\s*\)`)
	for _, m := range returns.FindAllIndex(body[:limit], -1) {
		around := blocksAround(body, m[0])
		if inLambda(body, around) {
			continue
		}
		r := Return{Line: c.line(open + m[0])}
		// What was freed on the way: in the return's own block and in every block around it, before it.
		r.Frees = frees.Match(body[around[0]:m[0]]) && freedOnTheWay(body, around, m[0], frees)
		r.Safe = !r.Frees || b.Initialised
		b.Returns = append(b.Returns, r)
	}
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

var lambdaHead = regexp.MustCompile(`\[[^\[\]]*\]\s*(\([^()]*\)\s*)?(mutable\s*)?(->\s*[\w:<>*& ]+)?$`)

func inLambda(body code, around []int) bool {
	for _, at := range around {
		if lambdaHead.Match([]byte(strings.TrimRight(string(body[max(0, at-200):at]), " \t\r\n"))) {
			return true
		}
	}
	return false
}

// freedOnTheWay says whether a call that matches stands before offset in a block that is still open there: a call in
// a block that has closed belongs to another way out.
func freedOnTheWay(body code, around []int, offset int, call *regexp.Regexp) bool {
	for _, m := range call.FindAllIndex(body[:offset], -1) {
		open := blocksAround(body, m[0])
		if len(open) <= len(around) && open[len(open)-1] == around[len(open)-1] {
			return true
		}
	}
	return false
}

// guard looks at the conditions around the free of the batch in whisper_free_state.
func (b *Batch) guard(c code) {
	open, end, ok := c.block(freeFunction)
	if !ok {
		b.unread("no body of whisper_free_state")
		return
	}
	body := c[open : end+1]
	call := batchFree.FindIndex(body)
	if call == nil {
		b.unread("whisper_free_state does not call whisper_batch_free")
		return
	}
	depth := len(blocksAround(body, call[0]))
	before := strings.TrimSpace(string(body[max(0, strings.LastIndexAny(string(body[:call[0]]), ";{}")+1):call[0]]))
	// One block is the function's, one its `if (state)`.
	b.FreeGuarded = depth > 2 || strings.HasPrefix(before, "if")
}
