package candidate

import (
	"regexp"
	"strings"
	"testing"
)

// upstream has the shape of the real source, in our own words.
const upstream = `
#include "whisper.h"
struct whisper_batch {
    int32_t n_tokens;
    whisper_token  *  token;
    int8_t         *  logits;
};
static void whisper_batch_free(struct whisper_batch batch) {
    if (batch.token) free(batch.token);
}
struct whisper_state {
    int64_t t = 0;
    // whisper_batch batch = {};
    whisper_batch batch;
    const char * text = "whisper_batch batch = {}; }";
};
void whisper_free_state(struct whisper_state * state) {
    if (state) {
        whisper_batch_free(state->batch);
        delete state;
    }
}
struct whisper_state * whisper_init_state(whisper_context * ctx);
struct whisper_state * whisper_init_state(whisper_context * ctx) {
    whisper_state * state = new whisper_state;
    state->t = init([&]() { return 1; });
    if (!one(state)) {
        log("return nullptr; {");
        whisper_free_state(state);
        return nullptr;
    }
#ifdef WHISPER_USE_COREML
    state->ctx_coreml = load();
    if (!state->ctx_coreml) {
#ifndef WHISPER_COREML_ALLOW_FALLBACK
        whisper_free_state(state);
        return nullptr;
#endif
    }
#endif
#ifdef WHISPER_USE_OPENVINO
    if (!two(state)) { whisper_free_state(state); return nullptr; }
#endif
    state->batch = whisper_batch_init(1);
    if (!three(state)) {
        whisper_free_state(state);
        return nullptr;
    }
    return state;
}
`

func TestAnalyse(t *testing.T) {
	b := Analyse([]byte(upstream))
	if b.Unread != "" || b.Initialised || b.FreeGuarded || b.How != "nothing" {
		t.Errorf("found %+v", b)
	}
	if b.Line != 14 || b.Declaration != "whisper_batch batch;" {
		t.Errorf("declaration %q at line %d, want that of line 14", b.Declaration, b.Line)
	}
	if len(b.Returns) != 2 || b.Unsafe() != 2 || b.Returns[0].Line != 30 || b.Returns[1].Line != 37 {
		t.Errorf("early returns %+v, want those of lines 30 and 37", b.Returns)
	}
}

// What a fix may look like, and what only looks like one.
func TestVariants(t *testing.T) {
	edit := func(old, with string) string {
		if n := strings.Count(upstream, old); n != 1 {
			t.Fatalf("%q stands %d times in the source", old, n)
		}
		return strings.Replace(upstream, old, with, 1)
	}
	const declaration, assignment = "\n    whisper_batch batch;\n", "    state->batch = whisper_batch_init(1);\n"
	const made = "whisper_state * state = new whisper_state;"
	early := strings.Replace(edit(assignment, ""), made, made+"\n"+assignment, 1)
	for name, tc := range map[string]struct {
		source string
		unsafe int
		safe   bool
	}{
		"as it is":                      {upstream, 2, false},
		"the patch":                     {edit(declaration, "\n    whisper_batch batch = {};\n"), 0, true},
		"braces":                        {edit(declaration, "\n    whisper_batch batch{};\n"), 0, true},
		"listed values":                 {edit(declaration, "\n    struct whisper_batch batch = { 0, nullptr, nullptr };\n"), 0, true},
		"a call":                        {edit(declaration, "\n    whisper_batch batch = make_batch();\n"), 2, false},
		"value-initialised state":       {edit("new whisper_state;", "new whisper_state();"), 0, true},
		"braced state":                  {edit("new whisper_state;", "new whisper_state{};"), 0, true},
		"state with a constructor":      {strings.Replace(edit("new whisper_state;", "new whisper_state();"), "int64_t t = 0;", "int64_t t = 0; whisper_state() {}", 1), 2, false},
		"pointers initialised":          {strings.NewReplacer("token;", "token = nullptr;", "logits;", "logits{};").Replace(upstream), 0, true},
		"one pointer forgotten":         {edit("token;\n", "token = nullptr;\n"), 2, false},
		"batch assigned first":          {early, 0, true},
		"batch assigned in a branch":    {strings.Replace(early, assignment, "if (x) {"+assignment+"}", 1), 0, false},
		"free elsewhere":                {strings.ReplaceAll(upstream, "whisper_free_state(state);\n", "release(state);\n"), 0, true},
		"freed before the block":        {edit("log(\"return nullptr; {\");\n        whisper_free_state(state);", "if (y) { whisper_free_state(state); return nullptr; }"), 2, false},
		"smart pointer":                 {edit(made, "auto state = std::make_unique<whisper_state>();"), 0, false},
		"no state":                      {strings.ReplaceAll(upstream, "struct whisper_state {", "struct state {"), 0, false},
		"batch is another type":         {edit(declaration, "\n    std::optional<whisper_batch> batch;\n"), 0, false},
		"fix in a comment":              {edit(declaration, "\n    whisper_batch batch; // = {};\n"), 2, false},
		"fix in code left out":          {edit(declaration, "\n#if 0\n    whisper_batch batch = {};\n#else\n    whisper_batch batch;\n#endif\n"), 2, false},
		"fix for fallback builds":       {edit(declaration, "\n#ifdef WHISPER_COREML_ALLOW_FALLBACK\n    whisper_batch batch = {};\n#else\n    whisper_batch batch;\n#endif\n"), 2, false},
		"free with another name":        {strings.Replace(upstream, "whisper_batch_free(state->batch);", "drop(state->batch);", 1), 2, false},
		"windows line endings":          {strings.ReplaceAll(upstream, "\n", "\r\n"), 2, false},
		"unbalanced brace in a text":    {edit(`"whisper_batch batch = {}; }"`, `R"x(}}}")x"`), 2, false},
		"character that is a brace":     {edit("int64_t t = 0;", "char c = '}';"), 2, false},
		"separator in a number":         {edit("int64_t t = 0;", "int64_t t = 1'000;"), 2, false},
		"declared before it is there":   {"struct whisper_state;\n" + upstream, 2, false},
		"an object of no members":       {edit(declaration, "\n    whisper_batch batch = whisper_batch{};\n"), 0, true},
		"a call of its type":            {edit(declaration, "\n    whisper_batch batch=whisper_batch();\n"), 0, true},
		"initialiser on the next line":  {edit(declaration, "\n    whisper_batch batch =\n        {};\n"), 0, true},
		"a list with a stale pointer":   {edit(declaration, "\n    whisper_batch batch = { 0, (whisper_token *) 1 };\n"), 2, false},
		"a batch with a constructor":    {strings.Replace(edit(declaration, "\n    whisper_batch batch = {};\n"), "int32_t n_tokens;", "int32_t n_tokens; whisper_batch() {}", 1), 2, false},
		"fix in a comment that goes on": {edit(declaration, "\n    // so: \\\n    whisper_batch batch = {};\n    whisper_batch batch;\n"), 2, false},
		"another member before it":      {edit(declaration, "\n    whisper_batch batch_two = {};\n    whisper_batch batch;\n"), 2, false},
		"a member of a member":          {edit(declaration, "\n    struct two {\n        whisper_batch batch = {};\n    };\n    whisper_batch batch;\n"), 2, false},
		"fix behind a macro":            {edit(declaration, "\n#ifdef SAFE\n    whisper_batch batch = {};\n#else\n    whisper_batch batch;\n#endif\n"), 0, false},
		"initialiser behind a macro":    {edit(declaration, "\n    whisper_batch batch\n#ifdef SAFE\n    = {}\n#endif\n    ;\n"), 0, false},
		"one of two pointers in a line": {strings.NewReplacer("token;", "token, * two = nullptr;", "logits;", "logits{};").Replace(upstream), 2, false},
		"auto":                          {edit(made, "auto * state = new whisper_state;"), 2, false},
		"zeroed first":                  {edit(made, made+"\n    state->batch = {};"), 0, true},
		"zeroed by memset":              {edit(made, made+"\n    memset(&state->batch, 0, sizeof(state->batch));"), 0, true},
		"filled by memset":              {edit(made, made+"\n    memset(&state->batch, 1, sizeof(state->batch));"), 2, false},
		"a pointer's size zeroed":       {edit(made, made+"\n    memset(&state->batch, 0, sizeof(&state->batch));"), 2, false},
		"zeroed under a condition":      {edit(made, made+"\n    if (x)\n        state->batch = {};"), 0, false},
		"zeroed in a loop":              {edit(made, made+"\n    for (int i = 0; i < x; ++i) state->batch = {};"), 0, false},
		"zeroed behind a macro":         {edit(made, made+"\n#ifdef SAFE\n    state->batch = {};\n#endif"), 0, false},
		"zeroed after one return":       {edit("#ifdef WHISPER_USE_COREML\n", "    state->batch = {};\n#ifdef WHISPER_USE_COREML\n"), 1, false},
		"assigned by another function":  {edit(assignment, "    init_batch(state);\n"), 3, false},
		"two functions of the name":     {"static whisper_state * whisper_init_state(whisper_context * ctx, int) {\n    whisper_state * state = new whisper_state{};\n    state->batch = {};\n    return state;\n}\n" + upstream, 0, false},
		"raw text of another kind":      {edit(made, made+"\n    const char * s = u8R\"x(\" {)x\";"), 2, false},
		"jumps":                         {strings.ReplaceAll(upstream, "whisper_free_state(state);\n", "goto fail;\n"), 0, false},
		"macro that returns":            {"#define FAIL(s) do { \\\n    whisper_free_state(s); \\\n    return nullptr; \\\n} while (0)\n" + ways("FAIL(state);"), 0, false},
		"macro in a macro":              {"#define OUT return nullptr\n#define FAIL(s) drop(s); OUT\n" + ways("FAIL(state);"), 0, false},
		"macro that only logs":          {"#define NOTE(s) log(s)\n" + edit(made, made+"\n    NOTE(\"return\");"), 2, false},
		"function that frees":           {"static whisper_state * fail(whisper_state * s) {\n    whisper_free_state(s);\n    return nullptr;\n}\n" + ways("return fail(state);"), 2, false},
		"function that has it freed":    {"void drop(whisper_state * s) { whisper_free_state(s); }\nwhisper_state * fail(whisper_state * s, int n) {\n    drop(s);\n    return nullptr;\n}\n" + ways("return fail(state, 1);"), 2, false},
		"freed in the return":           {ways("return whisper_free_state(state), nullptr;"), 2, false},
		"freed and thrown":              {ways("whisper_free_state(state); throw 1;"), 2, false},
		"freed in a lambda":             {strings.Replace(ways("return fail();"), made, made+"\n    auto fail = [&]() -> whisper_state * {\n        whisper_free_state(state);\n        return nullptr;\n    };", 1), 0, false},
		"freed by another name":         {strings.Replace(ways("whisper_free_state(s); return nullptr;"), made, made+"\n    whisper_state * s = state;", 1), 0, false},
		"freed by a guard":              {strings.Replace(ways("return nullptr;"), made, made+"\n    state_guard guard(state);", 1), 0, false},
		"freed by a smart pointer":      {strings.Replace(ways("return nullptr;"), made, made+"\n    std::unique_ptr<whisper_state, freer> guard(std::move(state));", 1), 0, false},
		"freed now, left later":         {strings.Replace(ways("whisper_free_state(state); failed = true;"), "    state->batch =", "    if (failed) return nullptr;\n    state->batch =", 1), 0, false},
		"freed by a destructor":         {strings.Replace(ways("delete state; return nullptr;"), "    int64_t t = 0;", "    int64_t t = 0;\n    ~whisper_state() { whisper_batch_free(batch); }", 1), 0, false},
		"deleted, the batch left alone": {ways("delete state; return nullptr;"), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := Analyse([]byte(tc.source))
			if b.Unsafe() != tc.unsafe || b.Safe() != tc.safe {
				t.Errorf("%d unsafe, safe %v, want %d, %v: %+v", b.Unsafe(), b.Safe(), tc.unsafe, tc.safe, b)
			}
		})
	}
}

// ways is the source with another way out at each early return.
func ways(out string) string {
	early, late, _ := strings.Cut(upstream, "    state->batch =")
	early = regexp.MustCompile(`whisper_free_state\(state\);\s+return nullptr;`).ReplaceAllString(early, out)
	return early + "    state->batch =" + late
}

func TestGuard(t *testing.T) {
	const flag, set = "    bool has_batch = false;\n", "    state->has_batch = true;\n"
	for name, tc := range map[string]struct {
		with, member, early, late string
		guarded, safe             bool
		unread                    string
	}{
		"plain":                {with: "whisper_batch_free(state->batch);"},
		"a flag":               {with: "if (state->has_batch) whisper_batch_free(state->batch);", member: flag, late: set, guarded: true, safe: true},
		"a flag and a block":   {with: "if (state->has_batch) { whisper_batch_free(state->batch); }", member: "    bool has_batch{};\n", late: set, guarded: true, safe: true},
		"a flag of nowhere":    {with: "if (state->has_batch) whisper_batch_free(state->batch);", guarded: true, unread: "under a condition"},
		"a flag that is true":  {with: "if (state->has_batch) whisper_batch_free(state->batch);", member: "    bool has_batch = true;\n", guarded: true, unread: "under a condition"},
		"a flag without value": {with: "if (state->has_batch) whisper_batch_free(state->batch);", member: "    bool has_batch;\n", late: set, guarded: true, unread: "under a condition"},
		"a flag set too early": {with: "if (state->has_batch) whisper_batch_free(state->batch);", member: flag, early: set, guarded: true, unread: "under a condition"},
		"a flag or something":  {with: "if (state->has_batch || x) whisper_batch_free(state->batch);", member: flag, late: set, guarded: true, unread: "under a condition"},
		"otherwise":            {with: "if (state->has_batch) {} else { whisper_batch_free(state->batch); }", member: flag, late: set, guarded: true, unread: "under a condition"},
		"one free of two":      {with: "if (state->has_batch) whisper_batch_free(state->batch); whisper_batch_free(state->batch);", member: flag, late: set, guarded: true, unread: "under a condition"},
		"the batch itself":     {with: "if (state->batch.token) whisper_batch_free(state->batch);", guarded: true},
		"in a comment":         {with: "/* if (state->has_batch) */ whisper_batch_free(state->batch);", member: flag, late: set},
	} {
		text := strings.NewReplacer("whisper_batch_free(state->batch);", tc.with, "    whisper_batch batch;\n    const", "    whisper_batch batch;\n"+tc.member+"    const",
			"new whisper_state;\n", "new whisper_state;\n"+tc.early, "whisper_batch_init(1);\n", "whisper_batch_init(1);\n"+tc.late).Replace(upstream)
		b := Analyse([]byte(text))
		if b.FreeGuarded != tc.guarded || b.Safe() != tc.safe || !strings.Contains(b.Unread, tc.unread) || (b.Unread == "") != (tc.unread == "") {
			t.Errorf("%s: guarded %v, safe %v, unread %q, want %+v", name, b.FreeGuarded, b.Safe(), b.Unread, tc)
		}
	}
}

func FuzzAnalyse(f *testing.F) {
	f.Add([]byte(upstream))
	f.Add([]byte("struct whisper_state {\n whisper_batch batch;\n"))
	f.Add([]byte("R\"(\" /* ' \n#if\n#else\n#endif\n#endif"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		b := Analyse(text)
		if b.Line == 0 && b.Safe() {
			t.Errorf("a source without the declaration was taken for safe: %q", text)
		}
	})
}
