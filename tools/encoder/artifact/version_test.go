package artifact

import (
	"strings"
	"testing"
)

func TestMinimumIsAVersion(t *testing.T) {
	for _, good := range []string{"", "13", "13.3", "15.6.1", "26.0", "10.13.2"} {
		if err := (Options{MinimumMacOS: good}).Check(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"sonoma", "14,0", "12.x", "macOS 14", "14.", ".14", "14..0", "1.2.3.4", " 14", "14.0 ", "-1", "+14", "014", "14.00", "14.0b", "٣", "14.0\n", "99999999999999999999",
	} {
		o := Options{MinimumMacOS: bad}
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), "expected a version in digits") {
			t.Errorf("%q: %v, want a refusal that says what a version is", bad, err)
		}
		if _, err := Inspect("absent.bin", "absent.mlmodelc", o); err == nil || !strings.Contains(err.Error(), "minimum macOS") {
			t.Errorf("Inspect with %q: %v, want a usage error", bad, err)
		}
		if _, err := InspectFolder(t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "minimum macOS") {
			t.Errorf("InspectFolder with %q: %v, want a usage error", bad, err)
		}
	}
}
