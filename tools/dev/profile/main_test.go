package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/dev/report"
)

// What Bazel 7 writes, cut to the members that matter.
const real = `{"otherData":{"bazel_version":"7.4.1"},"traceEvents":[
{"name":"thread_name","ph":"M","pid":1,"tid":0,"args":{"name":"Critical Path"}},
{"cat":"build phase marker","name":"Launch Blaze","ph":"X","ts":-419000,"dur":419000,"pid":1,"tid":470},
{"cat":"action processing","name":"Compiling a.cpp","ph":"X","ts":1000000,"dur":9000000,"pid":1,"tid":7,"args":{"mnemonic":"CppCompile"}},
{"cat":"action resource lock","name":"Acquiring resources for: Compiling a.cpp","ph":"X","ts":1500000,"dur":4000000,"pid":1,"tid":7},
{"cat":"action processing","name":"Compiling b.cpp","ph":"X","ts":2000000,"dur":500000,"pid":1,"tid":8,"args":{"mnemonic":"CppCompile"}},
{"cat":"remote output download","name":"download","ph":"X","ts":2100000,"dur":100000,"pid":1,"tid":8},
{"cat":"remote output download","name":"download","ph":"X","ts":2200000,"dur":100000,"pid":1,"tid":8},
{"cat":"action resource lock","name":"of no action that is here","ph":"X","ts":90000000,"dur":1,"pid":1,"tid":8},
{"cat":"action processing","name":"Running whisper-cli once","ph":"X","ts":3000000,"dur":7000000,"pid":1,"tid":8,"args":{"mnemonic":"GateRun","target":"//gate:run"}},
{"cat":"action processing","name":"something","ph":"X","ts":3000000,"dur":1000,"pid":1,"tid":9}
]}`

func TestTable(t *testing.T) {
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := z.Write([]byte(real)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `| mnemonic | actions | of them from a cache | work, s | waited, s | longest, s | which |
|---|---:|---:|---:|---:|---:|---|
| GateRun | 1 | 0 | 7.0 | 0.0 | 7.0 | Running whisper-cli once |
| CppCompile | 2 | 1 | 5.5 | 4.0 | 5.0 | Compiling a.cpp |
| (none) | 1 | 0 | 0.0 | 0.0 | 0.0 | something |
| all | 4 | 1 | 12.5 | 4.0 | 90.0 | the whole command |
`
	for name, in := range map[string]string{"plain": real, "compressed": compressed.String()} {
		table, err := read(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		w, err := report.Begin("", "profile", "go run ./tools/dev/profile", &out)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.print(w); err != nil || out.String() != want {
			t.Errorf("%s: %v, found\n%s\nwant\n%s", name, err, out.String(), want)
		}
	}
}

func TestWhatIsNoProfile(t *testing.T) {
	for in, want := range map[string]string{
		real[:300]:            "whole profile",
		`{"traceEvents": []}`: "profile of a build",
		"":                    "whole profile",
	} {
		if _, err := read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", in, err, want)
		}
	}
	if err := run([]string{"a", "b"}, nil); err == nil {
		t.Error("two profiles were taken")
	}
}
