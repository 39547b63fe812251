package upstreamtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/candidate"
)

// What stands once in the source of both pins, and what a variant changes.
const (
	declaration = "\n    whisper_batch batch;\n"
	made        = "whisper_state * state = new whisper_state;"
	assignment  = "    state->batch = whisper_batch_init(ctx->model.hparams.n_text_ctx, WHISPER_MAX_DECODERS);\n"
	release     = "whisper_batch_free(state->batch);"
	members     = "    whisper_token  *  token;\n    whisper_pos    *  pos;\n    int32_t        *  n_seq_id; // always 1, here for consistency with llama.cpp\n" +
		"    whisper_seq_id ** seq_id;   // null terminated\n    int8_t         *  logits;\n"
)

// early is the number of returns of whisper_init_state before the batch is assigned, each of which frees it; one
// of them is compiled only without fallback.
const early = 6

func TestVariants(t *testing.T) {
	source := read(t)
	edit := func(pairs ...string) string {
		text := source
		for i := 0; i < len(pairs); i += 2 {
			if n := strings.Count(text, pairs[i]); n != 1 {
				t.Fatalf("%q stands %d times in the source, expected once", pairs[i], n)
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	nulls := strings.NewReplacer("token;", "token = nullptr;", "pos;", "pos = nullptr;", "n_seq_id;", "n_seq_id = nullptr;", "seq_id;", "seq_id = nullptr;", "logits;", "logits{};")
	for _, c := range []struct {
		name    string
		source  string
		unsafe  int
		safe    bool
		guarded bool
	}{
		{"as fetched", source, early, false, false},
		{"the patch", edit(declaration, "\n    whisper_batch batch = {};\n"), 0, true, false},
		{"the patch, in a comment", edit(declaration, "\n    // whisper_batch batch = {};"+declaration), early, false, false},
		{"the patch, for another build", edit(declaration, "\n#ifdef WHISPER_COREML_ALLOW_FALLBACK\n    whisper_batch batch = {};\n#else"+declaration+"#endif\n"), early, false, false},
		{"a state of zeros", edit(made, "whisper_state * state = new whisper_state();"), 0, true, false},
		{"members initialised", edit(members, nulls.Replace(members)), 0, true, false},
		{"members initialised but one", edit(members, strings.Replace(nulls.Replace(members), "logits{}", "logits", 1)), early, false, false},
		{"the batch first", edit(assignment, "", made, made+"\n"+assignment), 0, true, false},
		{"the batch first, in a branch", edit(assignment, "", made, made+"\n    if (ctx->params.use_gpu) {\n"+assignment+"    }\n"), 0, false, false},
		{"a guard", edit(release, "if (state->has_batch) { "+release+" }"), early, false, true},
		{"another kind of pointer", edit(made, "auto state = std::make_unique<whisper_state>();"), 0, false, false},
		{"the batch renamed", edit(declaration, "\n    whisper_batch decoder_batch;\n"), 0, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := candidate.Analyse([]byte(c.source))
			if b.Unsafe() != c.unsafe || b.Safe() != c.safe || b.FreeGuarded != c.guarded {
				t.Errorf("%d unsafe, safe %v, guarded %v, want %d, %v, %v: %+v", b.Unsafe(), b.Safe(), b.FreeGuarded, c.unsafe, c.safe, c.guarded, b)
			}
		})
	}
}

func read(t *testing.T) string {
	t.Helper()
	return readNamed(t, "WHISPER_CPP_SOURCE")
}

// readNamed reads a file of the pinned source that the build names in the environment.
func readNamed(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s must name a file of the pinned source; `bazel test //tools/upstream/candidate/upstreamtest:upstreamtest_test` does", variable)
	}
	if dir := os.Getenv("TEST_SRCDIR"); dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
