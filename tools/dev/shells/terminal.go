package main

import (
	"context"
	"strings"
)

// terminal looks at what is written to a real terminal, and at what is not.
func (t *trial) terminal(ctx context.Context) {
	on := func(command string, env ...string) (string, int) {
		return t.call(ctx, env, "script", "-qec", command, "/dev/null")
	}
	const painted = "\x1b[1mCANARY_SIGNAL\x1b[0m"
	out, code := on("coregate explain CANARY_SIGNAL")
	t.check(code == 0 && strings.Contains(out, painted), "colours on a terminal: exit %d, %q", code, out)
	out, _ = on("coregate explain CANARY_SIGNAL", "NO_COLOR=1")
	t.check(!strings.Contains(out, "\x1b"), "NO_COLOR: %q", out)
	out, _ = on("coregate explain CANARY_SIGNAL", "TERM=dumb")
	t.check(!strings.Contains(out, "\x1b"), "a terminal without colours: %q", out)
	out, _ = on("coregate explain CANARY_SIGNAL | cat")
	t.check(!strings.Contains(out, "\x1b"), "a pipe: %q", out)

	// A command that waits for its input for three seconds says so on the terminal, and takes the line away again.
	const slow = "(sleep 3.5; echo x) | coregate judge --log -"
	out, _ = on(slow)
	t.check(strings.Contains(out, "coregate judge: at work for") && strings.Contains(out, "\r\x1b[K"), "progress after two seconds: %q", out)
	out, _ = on(slow + " 2>&1 | cat")
	t.check(!strings.Contains(out, "at work"), "progress in a pipe: %q", out)

	// Ctrl-C as a terminal sends it: the character, to whatever runs there.
	out, code = t.call(ctx, nil, "bash", "-c", `(sleep 2; printf '\003'; sleep 2) | script -qec "coregate judge --log -" /dev/null`)
	t.check(code == 130 && strings.Contains(out, "stopped by Ctrl-C"), "Ctrl-C: exit %d, %q", code, out)
}
