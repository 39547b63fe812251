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
	// FreeGuarded says that the free of the batch stands under a condition besides that of the state itself. Only a flag
	// that is false from the start and set after the batch is assigned makes a return safe.
	FreeGuarded bool `json:"free_guarded"`
	// Unread says what the reader could not make out; then nothing is taken for safe.
	Unread string `json:"unread"`
}

// Return is a return before the batch is assigned.
type Return struct {
	Line int `json:"line"`
	// Frees says that the state is freed on the way to it, and with it the batch.
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
	batchMember  = regexp.MustCompile(`(?m)^[ \t]*(?:struct\s+)?whisper_batch\s+batch\b\s*([^;]*);`)
	initFunction = regexp.MustCompile(`\bwhisper_init_state\s*\([^;{})]*\)\s*\{`)
	freeFunction = regexp.MustCompile(`\bwhisper_free_state\s*\([^;{})]*\)\s*\{`)
	newState     = regexp.MustCompile(`\b(?:whisper_state\s*\*?|auto\s*\*?)\s*(?:const\s+)?(\w+)\s*=\s*new\s+whisper_state\s*(\(\s*\)|\{\s*\}|)\s*;`)
	constructor  = regexp.MustCompile(`\bwhisper_state\s*\(`)
	destructor   = regexp.MustCompile(`~\s*whisper_(?:state|batch)\b`)
	ownBatch     = regexp.MustCompile(`\bwhisper_batch\s*\(`)
	// Initialisers after which every pointer is null: an aggregate's members that a list leaves out are zero.
	zeroList = `\{\s*(?:(?:\.\w+\s*=\s*)?(?:nullptr|NULL|\d+|\{\s*\})\s*,?\s*)*\}`
	zeroed   = regexp.MustCompile(`^(?:=?\s*` + zeroList + `|=\s*(?:struct\s+)?whisper_batch\s*(?:` + zeroList + `|\(\s*\)))$`)
	// A pointer's declarators, to the end of the declaration.
	pointers    = regexp.MustCompile(`\*[^;(]*;`)
	initialiser = regexp.MustCompile(`\w\s*(?:=|\{\s*\})`)
)

// Analyse reads whisper.cpp's source for what concerns the batch.
func Analyse(text []byte) *Batch {
	c := blank(text)
	b := &Batch{Returns: []Return{}}
	open, end, ok := c.block(stateStruct)
	if !ok {
		return b.unread("no struct whisper_state, or more than one")
	}
	state := c.code[open : end+1]
	init, ok := b.declaration(c, text, open, state)
	if !ok {
		return b
	}
	open, end, ok = c.block(initFunction)
	if !ok {
		return b.unread("no body of whisper_init_state, or more than one")
	}
	body := c.code[open : end+1]
	made := newState.FindSubmatchIndex(body)
	if made == nil || len(blocksAround(body, made[0])) != 1 || c.isUnsure(open+made[0], open+made[1]) {
		return b.unread("whisper_init_state does not make its state by `new whisper_state`")
	}
	name := string(body[made[2]:made[3]])
	b.initialised(c, init, string(body[made[4]:made[5]]), state)
	limit := b.assigned(c, open, body, name)
	b.earlyReturns(c, open, body[:limit], name)
	b.guard(c, state, body[:limit])
	if destructor.Match(c.code) {
		b.unread("a destructor of the state or the batch")
	}
	return b
}

// unread keeps the first thing that was not made out.
func (b *Batch) unread(why string) *Batch {
	if b.Unread == "" {
		b.Unread = why
	}
	return b
}

// declaration finds the batch among the state's own members, and returns its initialiser.
func (b *Batch) declaration(c *source, text []byte, open int, state code) (init string, ok bool) {
	var own [][]int
	for _, m := range batchMember.FindAllSubmatchIndex(state, -1) {
		if len(blocksAround(state, m[0])) == 1 {
			own = append(own, m)
		}
	}
	if len(own) == 0 {
		b.unread("struct whisper_state has no whisper_batch batch")
		return "", false
	}
	m := own[0]
	at := open + m[0]
	at += len(c.code[at:]) - len(strings.TrimLeft(string(c.code[at:]), " \t"))
	b.Line = c.line(at)
	b.Declaration = strings.Join(strings.Fields(string(text[at:open+m[1]])), " ")
	if len(own) > 1 || c.isUnsure(at, open+m[1]) {
		b.unread("the batch's declaration depends on a macro that is not known here")
		return "", false
	}
	return strings.TrimSpace(string(state[m[2]:m[3]])), true
}

// initialised says by which of the known ways the batch is free of stale pointers.
func (b *Batch) initialised(c *source, init, brackets string, state code) {
	open, end, ok := c.block(batchStruct)
	if ok && ownBatch.Match(c.code[open:end]) {
		b.unread("struct whisper_batch has a constructor")
		return
	}
	switch {
	case zeroed.MatchString(init):
		b.Initialised, b.How = true, "the declaration's initialiser"
	case init != "":
		b.unread(fmt.Sprintf("the declaration's form `%s`", b.Declaration))
	case brackets != "" && !constructor.Match(state):
		// new T() and new T{} zero the object first if T has no constructor of its own.
		b.Initialised, b.How = true, "`new whisper_state"+brackets+"` zeroes the state"
	case ok && !c.isUnsure(open, end) && pointersInitialised(c.code[open:end]):
		b.Initialised, b.How = true, "every pointer of struct whisper_batch has an initialiser"
	default:
		b.How = "nothing"
	}
}

func pointersInitialised(batch code) bool {
	found := pointers.FindAll(batch, -1)
	for _, declaration := range found {
		for _, declarator := range strings.Split(string(declaration), ",") {
			if strings.Contains(declarator, "*") && !initialiser.MatchString(declarator) {
				return false
			}
		}
	}
	return len(found) > 0
}

// assigned is the offset in the body of the first assignment to the batch, or of its end. An assignment that may not
// happen on every way (in a nested block, after a condition, in a branch that may not be compiled) is not understood.
func (b *Batch) assigned(c *source, open int, body code, state string) int {
	m := regexp.MustCompile(`\b` + state + `\s*->\s*batch\s*=[^=]|\b(?:std\s*::\s*)?memset\s*\(\s*&\s*` + state + `\s*->\s*batch\s*,\s*0\s*,\s*sizeof\s*\(?\s*(?:` +
		state + `\s*->\s*batch|(?:struct\s+)?whisper_batch)\s*\)?\s*\)\s*;`).FindIndex(body)
	if m == nil {
		if !b.Initialised {
			b.unread("whisper_init_state does not assign the batch itself")
		}
		return len(body)
	}
	before := string(body[:m[0]])
	if len(blocksAround(body, m[0])) > 1 || strings.TrimSpace(before[strings.LastIndexAny(before, ";{}")+1:]) != "" || c.isUnsure(open+m[0], open+m[1]) {
		b.unread(fmt.Sprintf("the batch is assigned at line %d inside a nested block or under a condition", c.line(open+m[0])))
	}
	return m[0]
}
