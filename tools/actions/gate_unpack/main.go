// Command gate_unpack unpacks the one Core ML folder that an archive holds, in a build action:
//
//	gate_unpack --archive=FILE --sha256=DIGEST --out=DIR
//
// FILE is a zip, a tar or a tar.gz, told by its first bytes. Its SHA-256 is checked before anything in it is read. The
// folder is the one entry whose name ends as DIR's does (.mlmodelc or .mlpackage), at any depth; its files come to lie
// below DIR byte for byte, and nothing else of the archive does. Names that leave their folder, links and devices are
// refused, and so are two entries of one name. Exit codes: 0 done, 1 the archive is not what was named, 2 wrong usage.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gate_unpack", flag.ContinueOnError)
	flags.SetOutput(stderr)
	archive := flags.String("archive", "", "the archive, a `file`")
	digest := flags.String("sha256", "", "the archive's SHA-256")
	out := flags.String("out", "", "the `folder` to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *archive == "" || *digest == "" || *out == "" || flags.NArg() != 0 {
		fmt.Fprintln(stderr, "gate_unpack: --archive, --sha256 and --out are needed, and nothing else")
		return 2
	}
	suffix := filepath.Ext(*out)
	if suffix != ".mlmodelc" && suffix != ".mlpackage" {
		fmt.Fprintf(stderr, "gate_unpack: --out: expected a name that ends in .mlmodelc or .mlpackage, found %s\n", filepath.Base(*out))
		return 2
	}
	if err := unpack(*archive, *digest, suffix, *out); err != nil {
		fmt.Fprintf(stderr, "gate_unpack: %s: %v\n", filepath.Base(*archive), err)
		return 1
	}
	return 0
}

func unpack(name, digest, suffix, out string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return fmt.Errorf("hash: %w", err)
	}
	if found := hex.EncodeToString(h.Sum(nil)); found != digest {
		return fmt.Errorf("expected SHA-256 %s, found %s: this is not the pinned archive; restore it, or pin this one and gate it anew", digest, found)
	}
	entries, err := list(f, size)
	if err != nil {
		return err
	}
	root, err := rootOf(entries, suffix)
	if err != nil {
		return err
	}
	w := &writer{root: root, out: out}
	if err := read(f, size, w.write); err != nil {
		return err
	}
	if w.files == 0 {
		return fmt.Errorf("%s: expected files in it, found none", root)
	}
	return nil
}
