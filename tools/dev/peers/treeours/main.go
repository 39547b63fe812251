// Command treeours is our side of the peer tree-speed: it answers each line, the path of a folder, with
// the folder's digest and the seconds that it took.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
)

func main() { os.Exit(run(os.Stdin, os.Stdout, os.Stderr)) }

func run(stdin io.Reader, stdout, stderr io.Writer) int {
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		start := time.Now()
		digest, err := tree.Digest(lines.Text())
		if err != nil {
			fmt.Fprintf(stderr, "treeours: %v\n", err)
			return 1
		}
		fmt.Fprintf(stdout, "%s %.6f\n", digest, time.Since(start).Seconds())
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintf(stderr, "treeours: %v\n", err)
		return 1
	}
	return 0
}
