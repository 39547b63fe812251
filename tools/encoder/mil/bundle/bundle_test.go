package bundle

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/blob"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/realtest"
	"github.com/coreml-gate/rules_coreml_gate/tools/encoder/mil/spec"
)

// small returns a model that adds a weight to its input, and its weight file.
func small(t testing.TB, opset string) (*spec.Model, func(io.Writer) error) {
	t.Helper()
	var l blob.Layout
	info, err := l.Add(blob.Float32, 2)
	if err != nil {
		t.Fatal(err)
	}
	typ := mil.TensorOf(mil.Float32, 2)
	name := func(n string) []mil.Attr { return []mil.Attr{{Name: "name", Value: mil.StringValue(n)}} }
	body := &mil.Block{Outputs: []string{"y"}, Ops: []*mil.Op{
		{Type: "const", Outputs: []mil.Param{{Name: "w", Type: typ}},
			Attrs: append(name("w"), mil.Attr{Name: "val", Value: mil.BlobValue(typ, WeightPath, info.Meta)})},
		{Type: "add", Outputs: []mil.Param{{Name: "y", Type: typ}}, Attrs: name("y"),
			Inputs: []mil.Arg{{Name: "x", Bindings: []mil.Binding{{Name: "x"}}}, {Name: "y", Bindings: []mil.Binding{{Name: "w"}}}}},
	}}
	p := &mil.Program{Major: 1, Functions: []*mil.Function{{Name: "main", Opset: opset, Body: body,
		Params: []mil.Param{{Name: "x", Type: typ}}}}}
	d := &spec.Description{}
	feature := func(n string) []spec.Feature {
		return []spec.Feature{{Name: n, Kind: spec.MultiArrayFeature, Array: &spec.Array{Shape: []int64{2}, DType: spec.ArrayFloat32}}}
	}
	d.Inputs, d.Outputs = feature("x"), feature("y")
	m := &spec.Model{SpecificationVersion: 6, Description: d, Kind: spec.MLProgram, Program: p}
	return m, func(w io.Writer) error {
		return l.Write(w, func(_ int, w io.Writer) error {
			_, err := w.Write([]byte{1, 2, 3, 4, 5, 6, 7, 8})
			return err
		})
	}
}

// writeSmall writes the model as small.mlpackage and compiles it.
func writeSmall(t testing.TB) (pkg, compiled string) {
	t.Helper()
	dir := t.TempDir()
	pkg, compiled = filepath.Join(dir, "small.mlpackage"), filepath.Join(dir, "small.mlmodelc")
	m, w := small(t, "CoreML5")
	if err := WritePackage(pkg, m, w); err != nil {
		t.Fatal(err)
	}
	a := open(t, pkg)
	if err := Compile(a, compiled); err != nil {
		t.Fatal(err)
	}
	return pkg, compiled
}

func open(t testing.TB, name string) *Artifact {
	t.Helper()
	a, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

var loose = cmp.Options{cmpopts.EquateEmpty(), cmp.AllowUnexported(spec.Feature{}),
	cmpopts.IgnoreFields(mil.Op{}, "Line"), cmpopts.IgnoreFields(mil.Function{}, "Line", "Opset"),
	cmpopts.IgnoreFields(mil.Program{}, "Minor", "Attrs")}

func TestPackageAndCompiledReadBackEqual(t *testing.T) {
	pkg, compiled := writeSmall(t)
	want, _ := small(t, "CoreML5")
	for _, name := range []string{pkg, compiled} {
		a := open(t, name)
		if err := a.Check(); err != nil {
			t.Fatalf("%s: %v", filepath.Base(name), err)
		}
		if a.Kind != spec.MLProgram || a.SpecificationVersion != 6 {
			t.Errorf("%s is %s of version %d", a.Form, a.Kind, a.SpecificationVersion)
		}
		if diff := cmp.Diff(want.Program, a.Program, loose); diff != "" {
			t.Errorf("%s: program differs:\n%s", a.Form, diff)
		}
		if diff := cmp.Diff(want.Description, a.Description, loose); diff != "" {
			t.Errorf("%s: description differs:\n%s", a.Form, diff)
		}
		v := a.Program.Functions[0].Body.Ops[0].Attr("val")
		got, err := mil.Resolve(v, a)
		if err != nil || !bytes.Equal(got.Data, []byte{1, 2, 3, 4, 5, 6, 7, 8}) {
			t.Errorf("%s: weight is %v (%v)", a.Form, got, err)
		}
		_, s, err := a.Section(*v.Blob)
		if err != nil || s.Size() != 8 {
			t.Errorf("%s: section %v (%v)", a.Form, s, err)
		}
	}
}

func TestEqualInputsGiveEqualBytes(t *testing.T) {
	p1, c1 := writeSmall(t)
	p2, c2 := writeSmall(t)
	for _, pair := range [][2]string{{p1, p2}, {c1, c2}} {
		if diff := cmp.Diff(tree(t, pair[0]), tree(t, pair[1])); diff != "" {
			t.Errorf("two runs differ:\n%s", diff)
		}
	}
	if got := tree(t, c1); got["weights/weight.bin"] != tree(t, p1)["Data/com.apple.CoreML/weights/weight.bin"] {
		t.Error("the weights changed on their way through the compiler")
	}
}

func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		files[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestProgramVersionFollowsOpset(t *testing.T) {
	for opset, want := range map[string]string{
		"CoreML5": "program(1.0)", "CoreML7": "program(1.0)", "CoreML8": "program(1.3)", "CoreML9": "program(1.3)",
	} {
		dir := t.TempDir()
		m, w := small(t, opset)
		if err := WritePackage(filepath.Join(dir, "a.mlpackage"), m, w); err != nil {
			t.Fatal(err)
		}
		if err := Compile(open(t, filepath.Join(dir, "a.mlpackage")), filepath.Join(dir, "a.mlmodelc")); err != nil {
			t.Fatal(err)
		}
		if got := tree(t, filepath.Join(dir, "a.mlmodelc"))["model.mil"]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: want %s, got %.20s", opset, want, got)
		}
	}
}

// What real compilers wrote is read, and coremldata.bin comes back byte for byte.
func TestRealArtifacts(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    spec.Kind
		version int32
		faults  []string
	}{
		{"add_model.mlmodelc", spec.MLProgram, 7, nil},
		{"transpose_encoder.mlmodelc", spec.MLProgram, 7, nil},
		{"sample.mlpackage", 2000, 3, nil},
		{"tiny_encoder.mlmodelc", spec.MLProgram, 0, []string{"coremldata.bin", "weights/weight.bin"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := open(t, realtest.Copy(t, c.name))
			if a.Kind != c.kind || a.SpecificationVersion != c.version {
				t.Errorf("got %s of version %d", a.Kind, a.SpecificationVersion)
			}
			var files []string
			for _, f := range a.Faults {
				files = append(files, f.File)
				if !errors.Is(f, fs.ErrNotExist) {
					t.Errorf("unexpected fault %v", f)
				}
			}
			if diff := cmp.Diff(c.faults, files); diff != "" {
				t.Errorf("faults:\n%s", diff)
			}
			if a.Form != CompiledForm || a.Description == nil {
				return
			}
			data := CoreMLData{Kind: a.Kind, SpecificationVersion: a.SpecificationVersion, Description: a.Description}
			got, err := data.Encode()
			if want := realtest.Text(t, c.name+"/coremldata.bin"); err != nil || string(got) != want {
				t.Errorf("coremldata.bin differs (%v):\nwant %q\ngot  %q", err, want, got)
			}
			if a.Metadata == nil || a.Metadata.SpecificationVersion != c.version || a.Metadata.ModelType.Name != "MLModelType_mlProgram" {
				t.Errorf("metadata.json: %+v", a.Metadata)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	lfs := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
	write := func(name string, b []byte) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), b, 0o644) }
	}
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
	}
	replace := func(name, from, to string) func(string) error {
		return func(dir string) error {
			p := filepath.Join(dir, name)
			b, err := os.ReadFile(p)
			if err == nil && !bytes.Contains(b, []byte(from)) {
				err = errors.New(name + " does not hold " + from)
			}
			if err != nil {
				return err
			}
			return os.WriteFile(p, bytes.ReplaceAll(b, []byte(from), []byte(to)), 0o644)
		}
	}
	const model = "Data/com.apple.CoreML/model.mlmodel"
	const pkgWeights = "Data/com.apple.CoreML/weights/weight.bin"
	for _, c := range []struct {
		name     string
		compiled bool
		change   func(dir string) error
		file     string
		want     string
	}{
		{"weights missing", true, remove("weights"), "weights/weight.bin", "no such file"},
		{"weights are an LFS pointer", true, write("weights/weight.bin", lfs), "weights/weight.bin", "git-lfs pointer"},
		{"weights cut short", true, func(dir string) error { return os.Truncate(filepath.Join(dir, "weights/weight.bin"), 130) },
			"weights/weight.bin", "cut short or damaged"},
		{"weights of another model", true, replace("model.mil", "tensor<fp32, [2]>", "tensor<fp32, [1]>"), "weights/weight.bin", "do not belong together"},
		{"path leaves", true, replace("model.mil", "@model_path/weights", "@model_path/../weights"), "model.mil", "leaves the artifact"},
		{"path leaves and comes back", true, replace("model.mil", "@model_path/weights", "@model_path/weights/../weights"), "model.mil", "leaves the artifact"},
		{"absolute path", true, replace("model.mil", "@model_path/weights", "/weights"), "model.mil", "expected a path that begins with @model_path/"},
		{"program missing", true, remove("model.mil"), "model.mil", "no such file"},
		{"program is an LFS pointer", true, write("model.mil", lfs), "model.mil", "git-lfs pointer"},
		{"program malformed", true, write("model.mil", []byte("program(1.0)\n!")), "model.mil", "line 2 column 1"},
		{"description missing", true, remove("coremldata.bin"), "coremldata.bin", "no such file"},
		{"description is an LFS pointer", true, write("coremldata.bin", lfs), "coremldata.bin", "git-lfs pointer"},
		{"description empty", true, write("coremldata.bin", nil), "coremldata.bin", "the file is empty"},
		{"description damaged", true, replace("coremldata.bin", "generic", "generig"), "coremldata.bin", "label at offset 28"},
		{"metadata twice", true, replace("metadata.json", `"method"`, `"isUpdatable"`), "metadata.json", `"isUpdatable" stands twice`},
		{"folder for a file", true, func(dir string) error {
			return errors.Join(remove("model.mil")(dir), os.Mkdir(filepath.Join(dir, "model.mil"), 0o755))
		}, "model.mil", "expected a regular file"},
		{"link out", true, func(dir string) error {
			return errors.Join(remove("weights/weight.bin")(dir), os.Symlink("/etc/passwd", filepath.Join(dir, "weights/weight.bin")))
		}, "weights/weight.bin", "escapes"},
		{"model missing", false, remove(model), "Manifest.json", "model.mlmodel at " + model + " is missing"},
		{"model malformed", false, write(model, []byte{0xff}), model, "damaged tag"},
		{"model is an LFS pointer", false, write(model, lfs), model, "git-lfs pointer"},
		{"package weights missing", false, remove(pkgWeights), pkgWeights, "no such file"},
		{"manifest is an LFS pointer", false, write("Manifest.json", lfs), "Manifest.json", "git-lfs pointer"},
		{"manifest version", false, replace("Manifest.json", `"1.0.0"`, `"2.0.0"`), "Manifest.json", "expected 1.0.0"},
		{"manifest leaves", false, replace("Manifest.json", "com.apple.CoreML/model.mlmodel", "../../model.mlmodel"), "Manifest.json", "not the name of a file inside"},
		{"manifest leaves and comes back", false, replace("Manifest.json", "com.apple.CoreML/model.mlmodel", "com.apple.CoreML/../com.apple.CoreML/model.mlmodel"), "Manifest.json", "not the name of a file inside"},
		{"manifest absolute", false, replace("Manifest.json", "com.apple.CoreML/model.mlmodel", "/etc/passwd"), "Manifest.json", "not the name of a file inside"},
		{"manifest root", false, replace("Manifest.json", `"rootModelIdentifier": "`, `"rootModelIdentifier": "X`), "Manifest.json", "is none of the 2 items"},
		{"manifest key", false, replace("Manifest.json", `"author"`, `"Author"`), "Manifest.json", "author is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pkg, compiled := writeSmall(t)
			dir := pkg
			if c.compiled {
				dir = compiled
			}
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			a := open(t, dir)
			if len(a.Faults) == 0 {
				t.Fatal("nothing was found wrong")
			}
			f := a.Faults[0]
			if f.File != c.file || !strings.Contains(strings.ReplaceAll(f.Error(), `"`, ""), strings.ReplaceAll(c.want, `"`, "")) {
				t.Errorf("want %s: …%s…\ngot  %v", c.file, c.want, f)
			}
		})
	}
}

func TestOpenRefusesWhatIsNoArtifact(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, ErrNotArtifact) {
		t.Errorf("empty folder: want ErrNotArtifact, got %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: want ErrNotExist, got %v", err)
	}
	p := filepath.Join(dir, "text.mlmodel")
	if err := os.WriteFile(p, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(p); err == nil {
		t.Error("a text file was opened as a model")
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*spec.Model)
		want   string
	}{
		"flexible": {func(m *spec.Model) { m.Description.Inputs[0].Array.Ranges = []spec.Range{{Lower: 1, Upper: 2}} }, "flexible shape"},
		"two functions": {func(m *spec.Model) {
			f := *m.Program.Functions[0]
			f.Name = "other"
			m.Program.Functions = append(m.Program.Functions, &f)
		}, "expected one function, found 2"},
		"no default function": {func(m *spec.Model) {
			m.Description.Functions = []spec.Function{{Name: "main"}}
		}, `names "" as its default function`},
		"opset": {func(m *spec.Model) {
			m.Program.Functions[0].Opset = "CoreML99"
		}, `opset "CoreML99"`},
	} {
		dir := t.TempDir()
		m, w := small(t, "CoreML5")
		c.change(m)
		if err := WritePackage(filepath.Join(dir, "a.mlpackage"), m, w); err != nil {
			t.Fatal(err)
		}
		dest := filepath.Join(dir, "a.mlmodelc")
		err := Compile(open(t, filepath.Join(dir, "a.mlpackage")), dest)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", name, c.want, err)
		}
		if _, err := os.Stat(dest); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something was written", name)
		}
	}
}

// A package may describe its only function by name; the compiled model says the same.
func TestFunctionDescribedByName(t *testing.T) {
	dir := t.TempDir()
	m, w := small(t, "CoreML8")
	d := m.Description
	fn := d.Function
	fn.Name = "main"
	d.Function, d.Functions, d.DefaultFunction = spec.Function{}, []spec.Function{fn}, "main"
	if err := WritePackage(filepath.Join(dir, "a.mlpackage"), m, w); err != nil {
		t.Fatal(err)
	}
	if err := Compile(open(t, filepath.Join(dir, "a.mlpackage")), filepath.Join(dir, "a.mlmodelc")); err != nil {
		t.Fatal(err)
	}
	c := open(t, filepath.Join(dir, "a.mlmodelc"))
	if got := c.Description.Interface(); got == nil || got.Name != "main" || len(got.Inputs) != 1 || got.Inputs[0].Name != "x" {
		t.Errorf("the interface is %+v", got)
	}
	if len(c.Metadata.Inputs) != 1 || c.Metadata.Inputs[0].Name != "x" {
		t.Errorf("metadata.json has inputs %+v", c.Metadata.Inputs)
	}
}

func TestLanding(t *testing.T) {
	dir := t.TempDir()
	m, w := small(t, "CoreML5")
	failing := func(io.Writer) error { return errors.New("disk on fire") }
	dest := filepath.Join(dir, "a.mlpackage")
	if err := WritePackage(dest, m, failing); err == nil {
		t.Fatal("a failed write succeeded")
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("a failed write left %v", entries)
	}
	if err := os.Mkdir(dest, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WritePackage(dest, m, w); err != nil {
		t.Errorf("an empty folder should be taken: %v", err)
	}
	if err := WritePackage(dest, m, w); err == nil {
		t.Error("an existing artifact was overwritten")
	}
}
