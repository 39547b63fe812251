package fit

import (
	"os"
	"runtime"

	"github.com/coreml-gate/rules_coreml_gate/tools/run/measure/memory"
)

// systemHeadroom is what macOS is left: Apple's advice for models there is at least 6 GB.
const systemHeadroom = 6 << 30

// Now reads the budget. It is read before each run and kept nowhere: another program may have taken it since.
func Now() Budget {
	footprint := (*int64)(nil)
	if p, ok := memory.Group(os.Getpid()); ok {
		footprint = &p.Footprint
	}
	return budget(memory.Available(), footprint, runtime.GOOS)
}

func budget(room memory.Room, footprint *int64, goos string) Budget {
	b := Budget{AvailableBytes: room.Bytes, FootprintBytes: footprint, LimitBytes: room.LimitBytes, Source: room.Source, Measured: room.Measured}
	if room.Bytes != nil && footprint != nil {
		sum := memory.Sum(*room.Bytes, *footprint)
		b.Bytes = &sum
	}
	if goos == "darwin" && room.LimitBytes != nil {
		// room's limit is the machine's memory less 1 GiB; the working set leaves the system the rest of its 6.
		limit := max(0, *room.LimitBytes-(systemHeadroom-1<<30))
		b.LimitBytes = &limit
	}
	return b
}
