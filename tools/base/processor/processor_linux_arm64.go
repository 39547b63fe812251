package processor

import "os"

// features reads what the kernel says of the first processor; nil where it says nothing.
func features() map[string]bool {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	return parseFeatures(string(data))
}
