package candidate

import (
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
		"as it is":                    {upstream, 2, false},
		"the patch":                   {edit(declaration, "\n    whisper_batch batch = {};\n"), 0, true},
		"braces":                      {edit(declaration, "\n    whisper_batch batch{};\n"), 0, true},
		"listed values":               {edit(declaration, "\n    struct whisper_batch batch = { 0, nullptr, nullptr };\n"), 0, true},
		"a call":                      {edit(declaration, "\n    whisper_batch batch = make_batch();\n"), 2, false},
		"value-initialised state":     {edit("new whisper_state;", "new whisper_state();"), 0, true},
		"braced state":                {edit("new whisper_state;", "new whisper_state{};"), 0, true},
		"state with a constructor":    {strings.Replace(edit("new whisper_state;", "new whisper_state();"), "int64_t t = 0;", "int64_t t = 0; whisper_state() {}", 1), 2, false},
		"pointers initialised":        {strings.NewReplacer("token;", "token = nullptr;", "logits;", "logits{};").Replace(upstream), 0, true},
		"one pointer forgotten":       {edit("token;\n", "token = nullptr;\n"), 2, false},
		"batch assigned first":        {early, 0, true},
		"batch assigned in a branch":  {strings.Replace(early, assignment, "if (x) {"+assignment+"}", 1), 0, false},
		"free elsewhere":              {strings.ReplaceAll(upstream, "whisper_free_state(state);\n", "release(state);\n"), 0, true},
		"freed before the block":      {edit("log(\"return nullptr; {\");\n        whisper_free_state(state);", "if (y) { whisper_free_state(state); return nullptr; }"), 2, false},
		"smart pointer":               {edit(made, "auto state = std::make_unique<whisper_state>();"), 0, false},
		"no state":                    {strings.ReplaceAll(upstream, "struct whisper_state {", "struct state {"), 0, false},
		"batch is another type":       {edit(declaration, "\n    std::optional<whisper_batch> batch;\n"), 0, false},
		"fix in a comment":            {edit(declaration, "\n    whisper_batch batch; // = {};\n"), 2, false},
		"fix in code left out":        {edit(declaration, "\n#if 0\n    whisper_batch batch = {};\n#else\n    whisper_batch batch;\n#endif\n"), 2, false},
		"fix for fallback builds":     {edit(declaration, "\n#ifdef WHISPER_COREML_ALLOW_FALLBACK\n    whisper_batch batch = {};\n#else\n    whisper_batch batch;\n#endif\n"), 2, false},
		"free with another name":      {strings.Replace(upstream, "whisper_batch_free(state->batch);", "drop(state->batch);", 1), 2, false},
		"windows line endings":        {strings.ReplaceAll(upstream, "\n", "\r\n"), 2, false},
		"unbalanced brace in a text":  {edit(`"whisper_batch batch = {}; }"`, `R"x(}}}")x"`), 2, false},
		"character that is a brace":   {edit("int64_t t = 0;", "char c = '}';"), 2, false},
		"separator in a number":       {edit("int64_t t = 0;", "int64_t t = 1'000;"), 2, false},
		"declared before it is there": {"struct whisper_state;\n" + upstream, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := Analyse([]byte(tc.source))
			if b.Unsafe() != tc.unsafe || b.Safe() != tc.safe {
				t.Errorf("%d unsafe, safe %v, want %d, %v: %+v", b.Unsafe(), b.Safe(), tc.unsafe, tc.safe, b)
			}
		})
	}
}

func TestGuard(t *testing.T) {
	for name, tc := range map[string]struct {
		with string
		want bool
	}{
		"plain":       {"whisper_batch_free(state->batch);", false},
		"a condition": {"if (state->has_batch) whisper_batch_free(state->batch);", true},
		"a block":     {"if (state->has_batch) { whisper_batch_free(state->batch); }", true},
	} {
		b := Analyse([]byte(strings.Replace(upstream, "whisper_batch_free(state->batch);", tc.with, 1)))
		if b.FreeGuarded != tc.want {
			t.Errorf("%s: guarded %v, want %v", name, b.FreeGuarded, tc.want)
		}
		// Whether the condition is right is for a human to read: it makes nothing safe.
		if b.Safe() {
			t.Errorf("%s: taken for safe", name)
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
