package runner

import "os"

// machineName is what this machine calls itself and no other, or "".
func machineName() string {
	data, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return ""
	}
	return string(data)
}
