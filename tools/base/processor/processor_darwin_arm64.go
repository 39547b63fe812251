package processor

import "syscall"

// features asks the system. It knows no name of a feature that came after it, and then no processor below it has the feature for a program.
func features() map[string]bool {
	f := map[string]bool{"neon": true, "fma": true}
	for name, k := range kernels {
		value, err := syscall.SysctlUint32("hw.optional.arm." + k.macos)
		f[name] = err == nil && value == 1
	}
	return f
}
