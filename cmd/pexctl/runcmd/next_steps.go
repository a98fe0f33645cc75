package runcmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/fspath"
)

// nextSteps returns up to three commands that fit the end of a run. home is the
// flag that commands need to find the run again, or "".
func nextSteps(path, home string, spec *dsl.Spec, p *engine.Program, res *engine.Result) []string {
	path = fspath.Quote(path)
	var lines []string
	switch res.Status {
	case stop.RunCompleted:
		lines = append(lines, scriptedModel(path, p, res)...)
		if prompt := promptCommand(path, p); prompt != "" {
			lines = append(lines, "See a prompt:  "+prompt)
		}
		lines = append(lines, "See the graph: pexctl graph "+path)
	case stop.RunStopped:
		if limit := doubledLimit(spec, res.StopReason.Path); limit != "" {
			lines = append(lines, fmt.Sprintf("Resume with a higher limit: pexctl resume %s%s --set %s", res.RunID, home, limit))
		}
	case stop.RunFailed:
		lines = append(lines, afterFailure(path, home, p, res)...)
	case stop.RunInterrupted, stop.RunCancelled:
	}
	return lines
}

// promptCommand returns the command that renders the prompt of the reflector or
// planner, or "" if no node of the spec calls a model.
func promptCommand(path string, p *engine.Program) string {
	id := project.PromptedNode(p, append(engine.NodesWith[engine.PlanReviewer](p), engine.NodesWith[engine.Planner](p)...)...)
	if id == "" {
		return ""
	}
	return fmt.Sprintf("pexctl render %s --node %s", path, fspath.Quote(id))
}

// scriptedModel reports that the replies were scripted, and explains how to use a
// real model.
func scriptedModel(path string, p *engine.Program, res *engine.Result) []string {
	for name := range res.Usage.ByModel {
		if m := project.LLM(p, name); m == nil || m.Provider != project.ScriptedProvider {
			return nil
		}
	}
	line := "The model's replies are scripted."
	if other := otherLLM(p, func(m *engine.ModelSpec) bool { return m.Provider != project.ScriptedProvider }); other != "" {
		line += fmt.Sprintf(" With a real model: pexctl run %s --set planner.llm=%s", path, other)
	}
	return []string{line}
}

// otherLLM returns the first entry of llms that matches. LLMs from overrides of
// roles have a + or a dot in their name.
func otherLLM(p *engine.Program, match func(*engine.ModelSpec) bool) string {
	for i := range p.Models {
		if m := &p.Models[i]; !strings.ContainsAny(m.Name, "+.") && match(m) {
			return m.Name
		}
	}
	return ""
}

// doubledLimit returns the setting that doubles a limit: limits.max_steps=40.
func doubledLimit(spec *dsl.Spec, path string) string {
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
	case stop.ProviderError:
		return afterProvider(path, home, p, res)
	case stop.PlannerInvalid, stop.OutputInvalid, stop.Refused, stop.StepFailed:
		return []string{fmt.Sprintf("See the prompts and replies: pexctl runs show %s --conversation%s", res.RunID, home)}
	default: // the message is sufficient
	}
	return nil
}

// afterProvider suggests to test the LLM that failed, and to use another one or to
// repeat the call later.
func afterProvider(path, home string, p *engine.Program, res *engine.Result) (lines []string) {
	used := func(m *engine.ModelSpec) bool { return strings.Contains(res.StopReason.Message, "llm "+m.Name+":") }
	i := slices.IndexFunc(p.Models, func(m engine.ModelSpec) bool { return used(&m) && !m.Offline() })
	if i >= 0 {
		lines = append(lines, fmt.Sprintf("Test the LLM: pexctl models ping %s --llm %s", path, fspath.Quote(p.Models[i].Name)))
	}
	other := otherLLM(p, func(m *engine.ModelSpec) bool { return !used(m) })
	if other != "" && len(res.Steps) == 0 {
		return append(lines, fmt.Sprintf("Use another LLM: pexctl run %s --set planner.llm=%s", path, other))
	}
	return append(lines, fmt.Sprintf("Continue from the failed call: pexctl runs fork %s%s", res.RunID, home))
}
