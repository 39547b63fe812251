package power

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Find returns the machine's instrument.
func Find() (Instrument, error) {
	if os.Geteuid() != 0 {
		return nil, ErrNone
	}
	if _, err := os.Stat(program); err != nil {
		return nil, ErrNone
	}
	return powermetrics{}, nil
}

const program = "/usr/bin/powermetrics"

type powermetrics struct{}

func (powermetrics) Name() string { return "powermetrics" }

func (powermetrics) Begin() (Window, error) {
	w := &meter{cmd: exec.Command(program, "--samplers", "cpu_power", "-i", "500")}
	w.cmd.Stdout = &w.out
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start powermetrics: %w", err)
	}
	return w, nil
}

// meter is powermetrics while it runs.
type meter struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	mark time.Time
}

func (w *meter) Mark() {
	if w.mark.IsZero() {
		w.mark = time.Now()
	}
}

func (w *meter) End() (all, after Reading, err error) {
	ended := time.Now()
	// An interrupt makes it write its last sample.
	_ = w.cmd.Process.Signal(os.Interrupt)
	_ = w.cmd.Wait()
	samples, ok := parsePowermetrics(w.out.String())
	if !ok {
		return all, after, fmt.Errorf("read powermetrics: no samples in %d bytes of output", w.out.Len())
	}
	if !w.mark.IsZero() {
		after = meanOf(lastOf(samples, ended.Sub(w.mark).Seconds()))
	}
	return meanOf(samples), after, nil
}
