package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	module "github.com/coreml-gate/rules_coreml_gate"
)

// release is what `bazel build //:release_archive` wrote.
type release struct {
	version string
	archive []byte
	// url is where source.json says that the archive lies.
	url string
	// entry is the module's entry by file name.
	entry map[string][]byte
	// files are the archive's, by its receipt.
	files []string
}

func readRelease(dir string) (*release, error) {
	r := &release{version: module.Version, entry: map[string][]byte{}}
	for _, name := range []string{"MODULE.bazel", "metadata.json", "source.json", "receipt.json"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read the release: %w", err)
		}
		r.entry[name] = data
	}
	var source struct{ URL string }
	if err := json.Unmarshal(r.entry["source.json"], &source); err != nil {
		return nil, fmt.Errorf("read source.json: %w", err)
	}
	r.url = source.URL
	var err error
	if r.archive, err = os.ReadFile(filepath.Join(dir, path.Base(r.url))); err != nil {
		return nil, fmt.Errorf("read the archive that source.json names: %w", err)
	}
	var receipt struct {
		Subject   []struct{ Digest map[string]string }
		Predicate struct{ Files []struct{ Path string } }
	}
	if err := json.Unmarshal(r.entry["receipt.json"], &receipt); err != nil {
		return nil, fmt.Errorf("read receipt.json: %w", err)
	}
	if len(receipt.Subject) != 1 || receipt.Subject[0].Digest["sha256"] != r.digest() {
		return nil, fmt.Errorf("receipt.json: expected one subject with SHA-256 %s, found %v", r.digest(), receipt.Subject)
	}
	for _, f := range receipt.Predicate.Files {
		r.files = append(r.files, f.Path)
	}
	return r, nil
}

func (r *release) digest() string {
	sum := sha256.Sum256(r.archive)
	return hex.EncodeToString(sum[:])
}

// onlyTracked refuses an archive that holds a file which version control does not: it was made of one checkout's leftovers.
func (r *release) onlyTracked(tracked []string) error {
	slices.Sort(tracked)
	var others []string
	for _, f := range r.files {
		if _, ok := slices.BinarySearch(tracked, f); !ok {
			others = append(others, f)
		}
	}
	if len(others) > 0 {
		return fmt.Errorf("the archive holds files that git does not: %q; remove them, or add them", others)
	}
	return nil
}

// server is a registry with one module of one version.
type server struct {
	http    *http.Server
	address string
	mu      sync.Mutex
	seen    []string
}

func serve(r *release) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	s := &server{address: "http://" + listener.Addr().String()}
	mirrors, err := json.Marshal(map[string][]string{"mirrors": {s.address + "/"}})
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(r.url, "://")
	base := "/modules/" + module.Name + "/"
	files := map[string][]byte{
		"/bazel_registry.json":            mirrors,
		base + "metadata.json":            r.entry["metadata.json"],
		base + r.version + "/source.json": r.entry["source.json"],
		// Bazel asks a mirror for the address without its scheme.
		"/" + rest:                         r.archive,
		base + r.version + "/MODULE.bazel": r.entry["MODULE.bazel"],
	}
	s.http = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, q.URL.Path)
		s.mu.Unlock()
		data, ok := files[q.URL.Path]
		if !ok {
			http.NotFound(w, q)
			return
		}
		_, _ = w.Write(data)
	})}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

func (s *server) close() { _ = s.http.Close() }

// option leads Bazel to the registry.
func (s *server) option() string { return "--registry=" + s.address }

func (s *server) paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// asked says whether a file of this name was asked for.
func (s *server) asked(name string) bool {
	return slices.ContainsFunc(s.paths(), func(p string) bool { return path.Base(p) == name })
}
