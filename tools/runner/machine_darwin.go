package runner

import "syscall"

// machineName is what this machine calls itself and no other, or "".
func machineName() string {
	id, err := syscall.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return id
}
