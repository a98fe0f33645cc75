//go:build unix

package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Case is one case.json.
type Case struct {
	Name  string `json:"-"` // folder name
	Dir   string `json:"-"`
	Steps []Step `json:"steps"`
}

// Step is one call of pexctl and its expected results. {NAME} in arguments and expected texts is a saved value; {DIR}
// is the working folder.
type Step struct {
	Args        []string            `json:"args"`
	Exit        int                 `json:"exit"`
	Stdin       string              `json:"stdin"`
	Env         map[string]string   `json:"env"`
	Expect      map[string]any      `json:"expect"` // path in the JSON on stdout -> value or matcher
	Absent      []string            `json:"absent"`
	StdoutHas   []string            `json:"stdout_has"`
	StdoutLacks []string            `json:"stdout_lacks"`
	StderrHas   []string            `json:"stderr_has"`
	StderrLacks []string            `json:"stderr_lacks"`
	Save        map[string]string   `json:"save"`       // name -> path
	KillAfter   *float64            `json:"kill_after"` // seconds; the step must still be running then
	FilesHas    map[string][]string `json:"files_has"`
	FilesLines  map[string]int      `json:"files_lines"`
}

// Load reads the case in a folder. An unknown key is an error, because a check with a typo would be ignored.
func Load(dir string) (Case, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return Case{}, err
	}
	c := Case{Name: filepath.Base(dir), Dir: dir}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Case{}, fmt.Errorf("%s: %w", filepath.Join(dir, "case.json"), err)
	}
	if len(c.Steps) == 0 {
		return Case{}, fmt.Errorf("%s: no steps", dir)
	}
	return c, nil
}

var placeholder = regexp.MustCompile(`\{([A-Z_]+)\}`)

// fill replaces {NAME} by saved values. Unknown names are unchanged.
func fill(saved map[string]string, s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(m string) string {
		if v, ok := saved[m[1:len(m)-1]]; ok {
			return v
		}
		return m
	})
}

// RunHere runs a case in the current folder, with pexctl as a function of this process, and returns the failures, one
// sentence each. setenv sets a step's environment. Steps cannot be killed.
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
