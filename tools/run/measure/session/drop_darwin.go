package session

import "os"

// drop does nothing: macOS has no such call for one file, and what its own caches of compiled models hold is unknown too.
func drop(*os.File) bool { return false }
