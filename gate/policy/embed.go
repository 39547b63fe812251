// Package policy holds the policies that every build of coregate knows. DIGESTS lists each file's
// SHA-256 in sha256sum's form; a policy never changes under its name.
package policy

import "embed"

// Files are the policies, NAME.json each.
//
//go:embed *.json
var Files embed.FS

// Digests is the content of DIGESTS.
//
//go:embed DIGESTS
var Digests string
