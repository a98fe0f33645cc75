//go:build unix

package contract

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// RunHere runs a case in the current folder, pexctl being a function of this
// process, and gives what did not hold, one sentence each. setenv sets a step's
// environment; nothing is killed, so a step must not ask for it.
func RunHere(c Case, pexctl func(args []string, in io.Reader, out, err io.Writer) int, setenv func(key, value string)) ([]string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	saved := map[string]string{"DIR": cwd}
	var bad []string
	for n, step := range c.Steps {
		for key, value := range step.Env {
			setenv(key, value)
		}
		args := make([]string, len(step.Args))
		for i, a := range step.Args {
			args[i] = fill(saved, a)
		}
		var stdout, stderr bytes.Buffer
		exit := pexctl(args, strings.NewReader(step.Stdin), &stdout, &stderr)
		for _, m := range step.judge(outcome{stdout: stdout.String(), stderr: stderr.String(), exit: exit}, cwd, saved) {
			bad = append(bad, fmt.Sprintf("step %d: %s", n+1, m))
		}
	}
	return bad, nil
}
