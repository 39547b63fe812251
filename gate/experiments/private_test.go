// Package experiments holds the test over everything that a private gate writes.
package experiments

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/evidence"
)

// TestPrivate: no word of a recording that is not public, and no name of its file, is in anything that its gate writes:
// the files, or folders of files, that PRIVATE_* name. The evidence of the same recording
// declared public, PRIVATE_CONTROL, has the words, so that a search which finds nothing says something.
func TestPrivate(t *testing.T) {
	root, named := os.Getenv("TEST_SRCDIR"), os.Getenv
	if root == "" {
		root, named = filepath.Join("..", "tests", "testdata"), plain
	}
	read := func(variable string) map[string]string {
		t.Helper()
		path := named(variable)
		require.NotEmpty(t, path, "%s must name a file: run this test with bazel test //gate/experiments:private_test", variable)
		found := map[string]string{}
		require.NoError(t, filepath.WalkDir(filepath.Join(root, filepath.FromSlash(path)), func(p string, _ os.DirEntry, err error) error {
			if info, statErr := os.Stat(p); err == nil && statErr == nil && !info.IsDir() {
				data, readErr := os.ReadFile(p)
				found[p], err = strings.ToLower(string(data)), readErr
			}
			return err
		}), "%s must name a file or a folder", variable)
		require.NotEmpty(t, found, "%s must name a file, or a folder with one", variable)
		return found
	}
	secrets := []string{"jfk"}
	for _, reference := range read("PRIVATE_REFERENCE") {
		for _, word := range evidence.Words(reference) {
			if len(word) > 5 { // a shorter one stands in longer words of this project's
				secrets = append(secrets, word)
			}
		}
	}
	require.Greater(t, len(secrets), 2, "the reference has words to look for")
	for _, text := range read("PRIVATE_CONTROL") {
		for _, secret := range secrets[1:] {
			assert.Contains(t, text, secret, "public evidence has the words")
		}
	}
	for _, variable := range []string{"PRIVATE_COREML", "PRIVATE_CANARY", "PRIVATE_CONTRAST", "PRIVATE_WORDS", "PRIVATE_RECEIPT", "PRIVATE_REPORT"} {
		for path, text := range read(variable) {
			for _, secret := range secrets {
				assert.NotContains(t, text, secret, "%s (%s)", variable, filepath.Base(path))
			}
		}
	}
}

// plain names files of the checkout for a go test without Bazel, which has no private gate: evidence without words stands
// for all that a private gate writes.
func plain(variable string) string {
	switch variable {
	case "PRIVATE_CONTROL":
		return "coreml.json"
	case "PRIVATE_REFERENCE":
		return "reference.txt"
	case "PRIVATE_COREML", "PRIVATE_CANARY", "PRIVATE_CONTRAST", "PRIVATE_WORDS", "PRIVATE_RECEIPT", "PRIVATE_REPORT":
		return "canary.json"
	}
	return ""
}
