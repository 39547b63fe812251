package pin

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" // git's object ids
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// MaxFileBytes bounds one file of a source tree; upstream's largest is a tenth of it.
const MaxFileBytes = 256 << 20

// Source is upstream's tree at one revision: a folder, or a commit in a clone.
type Source interface {
	// Read returns a file's content.
	Read(path string) ([]byte, error)
	// Nodes lists the whole tree with the object ids that the source claims or that follow from its content.
	Nodes() ([]Node, error)
}

// UnfitError says that something in a folder can be in no git tree: a device, a pipe, a name that no tree can hold.
type UnfitError struct{ Path, Is string }

// Error implements error.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("%q is %s, which no git tree holds: remove it", e.Path, e.Is)
}

// Dir is a Source that takes a folder for what it is: an unpacked archive. A .git at its top is not looked at.
type Dir string

// Read implements [Source]. A symbolic link is refused: no file that a build reads is one.
func (d Dir) Read(path string) ([]byte, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	name := filepath.Join(string(d), filepath.FromSlash(path))
	info, err := os.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFileBytes {
		return nil, fmt.Errorf("read source %s: expected a regular file of at most %d bytes, found %s of %d", name, MaxFileBytes, info.Mode().Type(), info.Size())
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	return data, nil
}

// Nodes implements [Source]: ids follow from content, modes from the owner's execute bit.
func (d Dir) Nodes() ([]Node, error) {
	var nodes []Node
	// The folder itself may be a link.
	root, err := filepath.EvalSymlinks(string(d))
	if err != nil {
		return nil, fmt.Errorf("list source: %w", err)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("list source %s: expected a folder, the top of a work tree or of an unpacked archive, found a file", string(d))
	}
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if rel == ".git" {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return nil
		}
		if checkPath(filepath.ToSlash(rel)) != nil {
			return &UnfitError{Path: rel, Is: "a name with a line break or a backslash"}
		}
		n, err := d.node(filepath.ToSlash(rel), e)
		nodes = append(nodes, n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list source: %w", err)
	}
	return nodes, nil
}

func (d Dir) node(path string, e fs.DirEntry) (Node, error) {
	info, err := e.Info()
	if err != nil {
		return Node{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(filepath.Join(string(d), filepath.FromSlash(path)))
		if err != nil {
			return Node{}, err
		}
		return Node{Path: path, Mode: ModeLink, ID: BlobID([]byte(filepath.ToSlash(target)))}, nil
	}
	if !info.Mode().IsRegular() {
		return Node{}, &UnfitError{Path: path, Is: info.Mode().Type().String()}
	}
	mode := ModeFile
	if info.Mode()&0o100 != 0 {
		mode = ModeExecutable
	}
	id, err := blobIDOf(filepath.Join(string(d), filepath.FromSlash(path)), info.Size())
	if err != nil {
		return Node{}, err
	}
	return Node{Path: path, Mode: mode, ID: id}, nil
}

// blobIDOf is [BlobID] of a file of any size: a model that lies in the tree has gigabytes, and is to be named.
func blobIDOf(name string, size int64) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, file)
	if err == nil && n != size {
		err = errors.New("it changes while it is read")
	}
	if err != nil {
		return "", fmt.Errorf("hash %s: %d of %d bytes: %w", name, n, size, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Clone is a Source that reads a commit's objects out of a git repository by the git program. What the
// program says is recomputed by [Verify]; no setting of the repository or of the user takes part.
type Clone struct {
	dir    string
	commit string
}

// IsClone says whether a folder is a git repository: a work tree with a .git at its top, a linked work tree, or a bare one.
func IsClone(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	for _, part := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, part)); err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil && info.Mode().IsRegular()
}

// Resolve finds the full id of the commit that a name (an id or its beginning, a tag, a branch) stands for in the
// repository at dir. Nothing in the environment takes part.
func Resolve(dir, name string) (string, error) {
	c := &Clone{dir: dir, commit: name}
	out, err := c.git(nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err == nil {
		if id := strings.TrimSpace(string(out)); isObjectID(id) {
			return id, nil
		}
	}
	if _, broken := c.git(nil, "rev-parse", "--git-dir"); broken != nil {
		return "", fmt.Errorf("%s looks like a git repository and is none that git can read: %w", dir, broken)
	}
	if name == "HEAD" {
		return "", fmt.Errorf("the repository %s has no commit checked out: name one", dir)
	}
	return "", fmt.Errorf("the repository %s has no commit %q: expected a commit, tag or branch that it holds; fetch it first, or check the spelling", dir, name)
}

// OpenClone names a commit of the repository at dir.
func OpenClone(dir, commit string) (*Clone, error) {
	c := &Clone{dir: dir, commit: commit}
	if _, err := c.CommitObject(); err != nil {
		return nil, err
	}
	return c, nil
}

// git runs a plumbing command. Replacement objects, grafts and configuration could change the answers, so all are off.
func (c *Clone) git(stdin io.Reader, args ...string) ([]byte, error) {
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	cmd := exec.CommandContext(context.Background(), "git", append([]string{"--no-replace-objects", "-C", dir}, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0",
		// A folder whose .git is none must not be taken for a part of the repository around it.
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
		// The repository may belong to another user; it is only read.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}
	cmd.Stdin = stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s in %s: %w: %s", args[0], c.dir, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// object reads one object by name and returns its content, whose id must be a hash of that content.
func (c *Clone) object(name string) (id, kind string, content []byte, err error) {
	if strings.ContainsAny(name, "\n\x00") {
		return "", "", nil, fmt.Errorf("object name %q has a line break", name)
	}
	out, err := c.git(strings.NewReader(name+"\n"), "cat-file", "--batch")
	if err != nil {
		return "", "", nil, err
	}
	r := bufio.NewReader(bytes.NewReader(out))
	head, err := r.ReadString('\n')
	if err != nil {
		return "", "", nil, fmt.Errorf("read object %s: %w", name, err)
	}
	words := strings.Fields(head)
	if len(words) != 3 {
		return "", "", nil, fmt.Errorf("read object %s: not in the repository %s (%q)", name, c.dir, strings.TrimSpace(head))
	}
	size, err := strconv.Atoi(words[2])
	if err != nil || size > MaxFileBytes {
		return "", "", nil, fmt.Errorf("read object %s: size %q is not a number up to %d", name, words[2], MaxFileBytes)
	}
	content = make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return "", "", nil, fmt.Errorf("read object %s: %w", name, err)
	}
	if found := objectID(words[1], content); found != words[0] {
		return "", "", nil, fmt.Errorf("object %s of %s hashes to %s: the repository is damaged", words[0], c.dir, found)
	}
	return words[0], words[1], content, nil
}

// CommitObject returns the commit's content, checked against its id.
func (c *Clone) CommitObject() ([]byte, error) {
	id, kind, content, err := c.object(c.commit + "^{commit}") // a tag may be annotated
	if err != nil {
		return nil, err
	}
	if kind != "commit" || isObjectID(c.commit) && id != c.commit {
		return nil, fmt.Errorf("%s in %s is the %s %s, expected a commit", c.commit, c.dir, kind, id)
	}
	return content, nil
}

// Read implements [Source].
func (c *Clone) Read(path string) ([]byte, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	_, kind, content, err := c.object(c.commit + ":" + path)
	if err != nil {
		return nil, err
	}
	if kind != "blob" {
		return nil, fmt.Errorf("%s at %s is a %s, expected a file", path, c.commit, kind)
	}
	return content, nil
}

// Nodes implements [Source].
func (c *Clone) Nodes() ([]Node, error) {
	out, err := c.git(nil, "ls-tree", "-r", "-z", "--full-tree", c.commit)
	if err != nil {
		return nil, err
	}
	var nodes []Node
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("git ls-tree: expected mode, kind, id and path, found %q", line)
		}
		nodes = append(nodes, Node{Path: path, Mode: words[0], ID: words[2]})
	}
	return nodes, nil
}
