package binary

import (
	"strings"
	"testing"
)

// A stub that was renamed to whisper-cli is told by what it is and how it is called, and its advice is true of it.
func TestRenamedStub(t *testing.T) {
	for _, path := range []string{"bin/whisper-cli", "bin/main", "whisper-cli"} {
		reasons := Check(path, &Identity{Stub: true}, Want{})
		if len(reasons) != 1 || reasons[0].Code != "BINARY_STUB" || !strings.HasSuffix(reasons[0].Found, "called "+path[strings.LastIndex(path, "/")+1:]) {
			t.Errorf("%s: found %v", path, reasons)
		}
	}
}
