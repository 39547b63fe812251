package modulearchive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/receipt/modulearchive"
)

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// member is one entry of an archive.
type member struct {
	header tar.Header
	text   string
}

func good() []member {
	var out []member
	for _, f := range [][2]string{{"MODULE.bazel", "module()\n"}, {"gate/defs.bzl", "x = 1\n"}, {"tools/run", "#!/bin/sh\n"}} {
		out = append(out, member{tar.Header{Typeflag: tar.TypeReg, Name: "m-1.0/" + f[0], Mode: 0o644, Format: tar.FormatUSTAR}, f[1]})
	}
	return out
}

func pack(t *testing.T, members []member) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, m := range members {
		if m.header.Typeflag == tar.TypeReg {
			m.header.Size = int64(len(m.text))
		}
		if err := w.WriteHeader(&m.header); err != nil {
			t.Fatal(err)
		}
		if m.header.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(m.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// statementOf is the receipt of good, about an archive of this digest.
func statementOf(digest string) *modulearchive.Statement {
	var files []modulearchive.File
	for _, m := range good() {
		files = append(files, modulearchive.File{Path: strings.TrimPrefix(m.header.Name, "m-1.0/"), SHA256: sum([]byte(m.text))})
	}
	return modulearchive.New("m", "1.0", digest, files)
}

// TestCompare alters an archive. It is refused, also where the receipt is about the altered bytes: what a builder signs must
// unpack to what it lists.
func TestCompare(t *testing.T) {
	first := func(change func(*member)) func([]member) []member {
		return func(list []member) []member {
			change(&list[0])
			return list
		}
	}
	with := func(h tar.Header) func([]member) []member {
		return func(list []member) []member { return append(list, member{h, ""}) }
	}
	for _, c := range []struct {
		name string
		edit func([]member) []member
		says string
	}{
		{"as packed", func(list []member) []member { return list }, ""},
		{"a file of other bytes", first(func(m *member) { m.text = "module( )\n" }), `"MODULE.bazel" has SHA-256`},
		{"a file less", func(list []member) []member { return list[:2] }, `"tools/run" is missing`},
		{"a file more", with(tar.Header{Typeflag: tar.TypeReg, Name: "m-1.0/x"}), `"x" is none of the receipt's`},
		{"a file twice", func(list []member) []member { return append(list, list[0]) }, "a second time"},
		{"another order", func(list []member) []member { slices.Reverse(list); return list }, `"gate/defs.bzl" behind "tools/run"`},
		{"another time", first(func(m *member) { m.header.ModTime = time.Unix(1e9, 0) }), "a time: 2001-09-09T01:46:40Z"},
		{"an owner", first(func(m *member) { m.header.Uid, m.header.Uname = 501, "me" }), "an owner"},
		{"a bit that gives rights", first(func(m *member) { m.header.Mode = 0o4755 }), "mode 4755"},
		{"a file for everybody", first(func(m *member) { m.header.Mode = 0o666 }), "mode 0666"},
		{"extended headers", first(func(m *member) { m.header.Format, m.header.PAXRecords = tar.FormatPAX, map[string]string{"X.y": "z"} }), "extended headers"},
		{"a symbolic link more", with(tar.Header{Typeflag: tar.TypeSymlink, Name: "m-1.0/x", Linkname: "/etc/passwd"}), `a symbolic link to "/etc/passwd"`},
		{"a symbolic link for a file", first(func(m *member) { m.header.Typeflag, m.header.Linkname = tar.TypeSymlink, "gate/defs.bzl" }), "a symbolic link"},
		{"a hard link for a file", first(func(m *member) { m.header.Typeflag, m.header.Linkname = tar.TypeLink, "m-1.0/gate/defs.bzl" }), "a hard link"},
		{"a folder", with(tar.Header{Typeflag: tar.TypeDir, Name: "m-1.0/x"}), "a folder"},
		{"a pipe", with(tar.Header{Typeflag: tar.TypeFifo, Name: "m-1.0/x"}), "a pipe"},
		{"a device", with(tar.Header{Typeflag: tar.TypeChar, Name: "m-1.0/x"}), "a device"},
		{"an absolute path", with(tar.Header{Typeflag: tar.TypeReg, Name: "/etc/cron.d/x"}), `"/etc/cron.d/x", which is no path below`},
		{"a path that climbs", with(tar.Header{Typeflag: tar.TypeReg, Name: "m-1.0/../x"}), "no path below"},
		{"a path that climbs and comes back", first(func(m *member) { m.header.Name = "m-1.0/a/../MODULE.bazel" }), "no path below"},
		{"a path with an empty part", first(func(m *member) { m.header.Name = "m-1.0//MODULE.bazel" }), "no path below"},
		{"a path of Windows", with(tar.Header{Typeflag: tar.TypeReg, Name: `m-1.0/..\x`}), "no path below"},
		{"another folder", first(func(m *member) { m.header.Name = "m-1.1/MODULE.bazel" }), "no path below"},
		{"no folder", first(func(m *member) { m.header.Name = "MODULE.bazel" }), "no path below"},
	} {
		data := pack(t, c.edit(good()))
		for _, digest := range []string{sum(pack(t, good())), sum(data)} {
			found := statementOf(digest).Compare(data, "m.tar.gz")
			var texts []string
			for _, r := range found {
				texts = append(texts, r.Code+" "+r.Found)
			}
			if all := strings.Join(texts, "\n"); c.says == "" && all != "" || !strings.Contains(all, c.says) {
				t.Errorf("%s: %q, want %q", c.name, all, c.says)
			}
		}
	}
}

// TestCompareBytes alters the bytes around an archive.
func TestCompareBytes(t *testing.T) {
	data := pack(t, good())
	var plain bytes.Buffer
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plain.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	packed := func(text []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"bytes behind it":              {append(slices.Clone(data), "x"...), "behind the gzip file"},
		"a second gzip member":         {append(slices.Clone(data), data...), "behind the gzip file"},
		"text behind the tar's end":    {packed(append(slices.Clone(plain.Bytes()), "text"...)), "behind the archive's end"},
		"a second tar behind the end":  {packed(append(slices.Clone(plain.Bytes()), plain.Bytes()...)), "behind the archive's end"},
		"not packed":                   {plain.Bytes(), "no gzip file"},
		"cut":                          {data[:len(data)-9], "damaged"},
		"a bit changed in its content": {func() []byte { d := slices.Clone(data); d[len(d)/2] ^= 4; return d }(), ""},
		"nothing":                      {nil, "no gzip file"},
		"no tar":                       {packed([]byte("hello")), "tar"},
	} {
		found := statementOf(sum(c.data)).Compare(c.data, "m.tar.gz")
		if len(found) == 0 || !strings.Contains(found[0].Found, c.says) {
			t.Errorf("%s: %v, want %q", name, found, c.says)
		}
	}
}

// TestStatement alters the receipt.
func TestStatement(t *testing.T) {
	whole, err := modulearchive.Encode(statementOf(strings.Repeat("0", 64)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := modulearchive.Decode(whole); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, says string }{
		"another version than its folder": {`"version":"1.0"`, `"version":"1.1"`, "strip_prefix"},
		"another module than its folder":  {`"module":"m"`, `"module":"n"`, "strip_prefix"},
		"another subject":                 {`"name":"m-1.0.tar.gz"`, `"name":"m-1.0.zip"`, "subjects"},
		"a name in another alphabet":      {`"module":"m"`, "\"module\":\"\u043c\"", "name of a module"},
		"a digest of another form":        {strings.Repeat("0", 64), strings.Repeat("0", 63) + "A", "digests"},
		"a path that climbs":              {`"gate/defs.bzl"`, `"gate/../../x"`, "without empty parts"},
		"an absolute path":                {`"gate/defs.bzl"`, `"/gate/defs.bzl"`, "below the module's folder"},
		"a path of Windows":               {`"gate/defs.bzl"`, `"gate\\defs.bzl"`, "Windows"},
		"a hidden character":              {`"gate/defs.bzl"`, "\"gate/de\u200bfs.bzl\"", "visible"},
		"files in another order":          {`"gate/defs.bzl"`, `"zzz"`, "in the order"},
		"a file in two cases":             {`"gate/defs.bzl"`, `"Module.bazel"`, "take for one"},
		"a file that is a folder too":     {`"tools/run"`, `"gate/defs.bzl/x"`, "the folder of"},
		"no MODULE.bazel":                 {`"MODULE.bazel"`, `"MODULE"`, "no MODULE.bazel"},
		"an unknown member":               {`"schema":1`, `"schema":1,"trusted":true`, "unknown field"},
		"another schema":                  {`"schema":1`, `"schema":0`, "schema is 0"},
		"another predicate":               {`module-archive/v1`, `module-archive/v0`, "predicate type"},
		"white space":                     {`"schema":1`, `"schema": 1`, "canonical"},
	} {
		bad := strings.Replace(string(whole), c.from, c.to, 1)
		_, err := modulearchive.Decode([]byte(bad))
		if bad == string(whole) || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if data, err := strictjson.Canonical(modulearchive.New("m", "1.0", strings.Repeat("0", 64), nil)); err == nil {
		if _, err := modulearchive.Decode(data); err == nil {
			t.Error("an archive of nothing is taken")
		}
	}
}
