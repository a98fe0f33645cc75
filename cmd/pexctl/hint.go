package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/eval/given"
)

// hint shows, in dim lines on a terminal, what to try next.
func hint(w io.Writer, lines []string) {
	if _, ok := terminal(w); !ok {
		return
	}
	dim, reset := "\x1b[2m", "\x1b[0m"
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		dim, reset = "", ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%s%s%s\n", dim, line, reset)
	}
}

// nextSteps are what fits the way a run ended: at most two lines. home is the
// flag that commands need to find the run again, or "".
func nextSteps(path, home string, spec *dsl.Spec, p *engine.Program, res *engine.Result) []string {
	path = quoted(path)
	var lines []string
	switch res.Status {
	case engine.Completed:
		lines = append(lines, scriptedModel(path, p, res)...)
		lines = append(lines, fmt.Sprintf("next: pexctl render %s --node %s · pexctl graph %s · -o json", path, prompted(p), path))
	case engine.Stopped:
		if limit := raised(spec, res.StopReason.Path); limit != "" {
			lines = append(lines, fmt.Sprintf("next: let it go on: pexctl resume %s%s --set %s", res.RunID, home, limit))
		}
	case engine.Failed:
		lines = append(lines, afterFailure(path, home, p, res)...)
	case engine.Interrupted, engine.Cancelled:
	}
	return lines
}

// prompted is a node that has a prompt worth a look.
func prompted(p *engine.Program) string {
	for _, name := range []string{"reflector", "planner"} {
		if _, ok := p.Nodes[name]; ok {
			return name
		}
	}
	return given.Nodes(p)[0]
}

// scriptedProvider plays replies that the spec holds.
const scriptedProvider = "scripted"

// scriptedModel says that nobody thought, and how somebody would.
func scriptedModel(path string, p *engine.Program, res *engine.Result) []string {
	for name := range res.Usage.ByModel {
		if m := model(p, name); m == nil || m.Provider != scriptedProvider {
			return nil
		}
	}
	line := "the model is scripted"
	if other := otherModel(p, func(m *engine.ModelSpec) bool { return m.Provider != scriptedProvider }); other != "" {
		line += fmt.Sprintf("; with a real one: pexctl run %s --set planner.llm=%s", path, other)
	}
	return []string{line}
}

func model(p *engine.Program, name string) *engine.ModelSpec {
	for i := range p.Models {
		if p.Models[i].Name == name {
			return &p.Models[i]
		}
	}
	return nil
}

// otherModel is the first llm of the spec's own that will do; those that roles
// made by overrides have a + or a dot in their name.
func otherModel(p *engine.Program, will func(*engine.ModelSpec) bool) string {
	for i := range p.Models {
		if m := &p.Models[i]; !strings.ContainsAny(m.Name, "+.") && will(m) {
			return m.Name
		}
	}
	return ""
}

// raised is the setting that doubles a limit: limits.max_steps=40.
func raised(spec *dsl.Spec, path string) string {
	if !strings.HasPrefix(path, "limits.") {
		return ""
	}
	for _, o := range spec.Explain() {
		if o.Path == path {
			return doubled(path, o.Value)
		}
	}
	return ""
}

func doubled(path, value string) string {
	if n, err := strconv.Atoi(value); err == nil {
		return fmt.Sprintf("%s=%d", path, 2*n)
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil {
		return path + "=" + strconv.FormatFloat(2*f, 'g', -1, 64)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return path + "=" + (2 * d).String()
	}
	return ""
}

func afterFailure(path, home string, p *engine.Program, res *engine.Result) []string {
	switch res.StopReason.Code {
	case engine.StopProviderError:
		used := res.StopReason.Message
		other := otherModel(p, func(m *engine.ModelSpec) bool { return !strings.Contains(used, "llm "+m.Name+":") })
		if other != "" {
			return []string{fmt.Sprintf("next: another llm of the spec: pexctl run %s --set planner.llm=%s", path, other)}
		}
		return []string{fmt.Sprintf("next: once it answers: pexctl runs fork %s%s goes on from that call", res.RunID, home)}
	case engine.StopPlannerInvalid, engine.StopOutputInvalid, engine.StopRefused, engine.StopStepFailed:
		return []string{fmt.Sprintf("next: what was said: pexctl run %s -o json --include conversation · what was asked: pexctl render %s", path, path)}
	default: // the message says all there is
	}
	return nil
}

// quoted makes a path one word of a shell.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t'\"$&|;<>()*?[]`\\") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
