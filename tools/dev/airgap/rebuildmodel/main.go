// Command rebuildmodel makes an official ggml Whisper model from a CTranslate2
// float16 model of the same weights, for machines that reach a package
// registry and not upstream's model host.
//
//	rebuildmodel --ct2=model.bin --tokenizer=tokenizer.json --model=tiny.en --out=ggml-tiny.en.bin
//
// Nothing is trusted: whatever the input was, the result
// is only put in place if it is upstream's published file byte for byte.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/ggml/ctranslate2"
)

// published is what upstream says about a model. models/README.md of
// whisper.cpp lists the SHA-1 of each file; the SHA-256 and the size are those
// of the file with that SHA-1.
type published struct {
	sha256 string
	size   int64
}

var models = map[string]published{
	// SHA-1 c78c86eb1a8faa21b369bcd33207cc90d64ae9df
	"tiny.en": {"921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f", 77704715},
	// SHA-1 465707469ff3a37a2b9b8d8f89f2f99de7299dac
	"base": {"60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe", 147951465},
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("rebuildmodel", flag.ContinueOnError)
	flags.SetOutput(stderr)
	ct2 := flags.String("ct2", "", "CTranslate2 float16 `model.bin` of the same weights")
	tokenizer := flags.String("tokenizer", "", "the model's `tokenizer.json`")
	model := flags.String("model", "", "which official model: "+strings.Join(names(), ", "))
	out := flags.String("out", "", "where the ggml `file` goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	want, ok := models[*model]
	if !ok || *ct2 == "" || *tokenizer == "" || *out == "" || flags.NArg() != 0 {
		fmt.Fprintf(stderr, "rebuildmodel: --ct2, --tokenizer, --out and --model (one of %s) are needed\n", strings.Join(names(), ", "))
		return 2
	}
	if err := rebuild(*ct2, *tokenizer, *out, want); err != nil {
		fmt.Fprintf(stderr, "rebuildmodel: %s: %v\n", *model, err)
		return 1
	}
	fmt.Fprintf(stdout, "%s  %s\n", want.sha256, *out)
	return 0
}

func names() []string {
	var n []string
	for k := range models {
		n = append(n, k)
	}
	sort.Strings(n)
	return n
}

func rebuild(ct2, tokenizer, out string, want published) (err error) {
	if sum, size, err := digest(out); err == nil && sum == want.sha256 && size == want.size {
		return nil // already there, and proven
	}
	tf, err := os.Open(tokenizer)
	if err != nil {
		return err
	}
	defer tf.Close()
	tokens, err := ctranslate2.Tokens(tf)
	if err != nil {
		return err
	}
	f, err := os.Open(ct2)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := ctranslate2.Read(f, info.Size())
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(out), filepath.Base(out)+".partial-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	h := sha256.New()
	if err := ctranslate2.Convert(io.MultiWriter(tmp, h), m, tokens); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want.sha256 {
		return fmt.Errorf("the rebuilt file has SHA-256 %s, upstream's has %s: the weights in %s are not upstream's", got, want.sha256, ct2)
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), out)
}

func digest(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}
