package upstreamtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// pinned is the SHA-256 of src/whisper.cpp at the pins, as fetched and patched
// (third_party/whisper_cpp/pins).
var pinned = map[string]string{
	"00d02d64b6818ef24ab97cc2184794634668e7cb0343ede2791d78a3f651dc45": "97c56f1d",
	"05dff881869ed5c6d5890fd48d82b388af89cd84ec5d9b739e58b2766467762c": "97c56f1d, patched",
	"a884ff3eb3bbf7558958c4d06a299cd8d97d87a7d5c7aac9138b8ff6a2ef04d7": "v1.9.1",
	"e1db34baa76c37ad20726600771bd879de836e5f0164e9a644e6072c91be2c2a": "v1.9.1, patched",
}

const signature = "static std::string whisper_get_coreml_path_encoder(std::string path_bin) {"

// harness answers length-prefixed arguments with length-prefixed paths.
const harness = `
#include <cstdint>
#include <cstdio>
#include <string>
%s
int main() {
    uint32_t n;
    while (fread(&n, 4, 1, stdin) == 1) {
        std::string s(n, '\0');
        if (n != 0 && fread(&s[0], 1, n, stdin) != n) return 1;
        const std::string r = whisper_get_coreml_path_encoder(s);
        n = uint32_t(r.size());
        if (fwrite(&n, 4, 1, stdout) != 1 || fwrite(r.data(), 1, n, stdout) != n) return 1;
    }
    return 0;
}
`

func TestEqualsUpstream(t *testing.T) {
	program := compile(t, cut(t, source(t)))
	in := handMade()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		in = append(in, random(rng))
	}
	var stdin bytes.Buffer
	for _, s := range in {
		stdin.Write(binary.NativeEndian.AppendUint32(nil, uint32(len(s))))
		stdin.WriteString(s)
	}
	cmd := exec.Command(program)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("run upstream's function: %v\n%s", err, &stderr)
	}
	changed := 0
	for _, s := range in {
		var n [4]byte
		if _, err := io.ReadFull(&stdout, n[:]); err != nil {
			t.Fatalf("read upstream's answer for %q: %v", s, err)
		}
		want := string(stdout.Next(int(binary.NativeEndian.Uint32(n[:]))))
		if got := whispercpp.EncoderPath(s); got != want {
			t.Errorf("%q: upstream derives %q, we derive %q", s, want, got)
		}
		if !strings.HasPrefix(want, s) {
			changed++
		}
	}
	// A set in which nothing is ever cut would prove nothing.
	if changed < len(in)/4 {
		t.Errorf("only %d of %d arguments had something cut off", changed, len(in))
	}
	if stdout.Len() != 0 {
		t.Errorf("upstream's program wrote %d bytes more than it was asked for", stdout.Len())
	}
}

// source reads the pinned file.
func source(t *testing.T) string {
	t.Helper()
	name := os.Getenv("WHISPER_CPP_SOURCE")
	if name == "" {
		t.Fatal("WHISPER_CPP_SOURCE is not set: name src/whisper.cpp of a checkout of whisper.cpp at a pinned commit")
	}
	b, err := os.ReadFile(name)
	if err != nil && !filepath.IsAbs(name) {
		b, err = os.ReadFile(filepath.Join(os.Getenv("TEST_SRCDIR"), filepath.FromSlash(name)))
	}
	if err != nil {
		t.Fatalf("read WHISPER_CPP_SOURCE: %v", err)
	}
	sum := sha256.Sum256(b)
	pin, ok := pinned[hex.EncodeToString(sum[:])]
	if !ok {
		t.Fatalf("WHISPER_CPP_SOURCE %s has SHA-256 %x, which belongs to no pin", name, sum)
	}
	t.Logf("upstream's function from the pin %s", pin)
	return string(b)
}

// cut takes the one function out of the file.
func cut(t *testing.T, file string) string {
	t.Helper()
	if n := strings.Count(file, signature); n != 1 {
		t.Fatalf("%q stands in the source %d times, expected once", signature, n)
	}
	body := file[strings.Index(file, signature):]
	end := strings.Index(body, "\n}\n")
	if end < 0 {
		t.Fatal("the function has no end")
	}
	return body[:end+3]
}

func compile(t *testing.T, function string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "upstream.cpp"), filepath.Join(dir, "upstream")
	if err := os.WriteFile(src, fmt.Appendf(nil, harness, function), 0o644); err != nil {
		t.Fatal(err)
	}
	cxx := os.Getenv("CXX")
	if cxx == "" {
		cxx = "c++"
	}
	if b, err := exec.Command(cxx, "-std=c++17", "-O1", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("compile upstream's function with %s: %v\n%s", cxx, err, b)
	}
	return out
}

func handMade() []string {
	set := []string{
		"", ".", "..", "/", "-", "a", "./a", "../a", "a.", "a.b.", ".bin", "-.bin", "a\x00b.bin", "a-q5\x000.bin",
		"models/ggml-base.en.bin", "/data/v1.4/ggml-model", "/data/v1.4-q5_0/ggml-model", "ggml-base.en", "my.model.v2.bin",
		"a-q5_0", "a-q5_0.", "a-q5_0-", "a-q5_0-.bin", "a-q5_0-q8_0.bin", "a--q5_0.bin", "a-q5_0/b", "a-q5_0/b.bin",
		"a-q/_b.bin", "a-q5_/.bin", "é-q5_0.bin", "a-qé_0.bin", "a-q5_é.bin", "a-q5_0 .bin", " -q5_0.bin",
		strings.Repeat("x", 5000) + "-q5_0.bin", strings.Repeat("-q5_0", 500) + ".bin", strings.Repeat(".", 300),
	}
	// Every kind of suffix of up to five bytes behind a dash.
	alphabet := []byte("qQ_50/-.K")
	var grow func(prefix string, left int)
	grow = func(prefix string, left int) {
		set = append(set, "m/ggml-x-"+prefix+".bin")
		if left == 0 {
			return
		}
		for _, c := range alphabet {
			grow(prefix+string(c), left-1)
		}
	}
	grow("", 5)
	return set
}

func random(rng *rand.Rand) string {
	parts := []string{"-q5_0", "-q8_0", "-q4_K", "-q?_?", "-", ".", "/", "q", "_", "ggml", "base", ".en", ".bin", "-f16", "0", "\x00", "é", "-Q5_0", "\\"}
	var b strings.Builder
	for range rng.IntN(9) {
		if rng.IntN(6) == 0 {
			b.WriteByte(byte(rng.Uint32()))
		} else {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
	}
	return b.String()
}
