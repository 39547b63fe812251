//go:build !amd64 && !arm64

package processor

import "runtime"

const arch = runtime.GOARCH

func features() map[string]bool { return nil }
