package mil

import (
	"bytes"
	"errors"
)

// ErrLFSPointer says that a file holds a git-lfs pointer where its content
// should be: a checkout without git lfs, a very common fault of artifacts.
var ErrLFSPointer = errors.New("the file is a git-lfs pointer, not its content; run git lfs pull")

var lfsMagic = []byte("version https://git-lfs")

// LFSHeadBytes is how much of a file IsLFSPointer needs to see.
const LFSHeadBytes = 23

// IsLFSPointer reports whether a file that begins with head is a git-lfs
// pointer.
func IsLFSPointer(head []byte) bool { return bytes.HasPrefix(head, lfsMagic) }
