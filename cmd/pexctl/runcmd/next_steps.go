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

// nextSteps are what fits the way a run ended: at most two lines. home is the
// flag that commands need to find the run again, or "".
func nextSteps(path, home string, spec *dsl.Spec, p *engine.Program, res *engine.Result) []string {
	path = fspath.Quote(path)
	var lines []string
	switch res.Status {
	case stop.RunCompleted:
		lines = append(lines, scriptedModel(path, p, res)...)
		lines = append(lines, fmt.Sprintf("next: %spexctl graph %s · -o json", rendered(path, p, " · "), path))
	case stop.RunStopped:
		if limit := raised(spec, res.StopReason.Path); limit != "" {
			lines = append(lines, fmt.Sprintf("next: let it go on: pexctl resume %s%s --set %s", res.RunID, home, limit))
		}
	case stop.RunFailed:
		lines = append(lines, afterFailure(path, home, p, res)...)
	case stop.RunInterrupted, stop.RunCancelled:
	}
	return lines
}

// rendered is the command that shows a prompt worth a look, and what follows it;
// "" = no node of the spec asks a model.
func rendered(path string, p *engine.Program, then string) string {
	id := project.PromptedNode(p, append(engine.NodesWith[engine.PlanReviewer](p), engine.NodesWith[engine.Planner](p)...)...)
	if id == "" {
		return ""
	}
	return fmt.Sprintf("pexctl render %s --node %s%s", path, fspath.Quote(id), then)
}

// scriptedModel says that nobody thought, and how somebody would.
func scriptedModel(path string, p *engine.Program, res *engine.Result) []string {
	for name := range res.Usage.ByModel {
		if m := project.LLM(p, name); m == nil || m.Provider != project.ScriptedProvider {
			return nil
		}
	}
	line := "the model is scripted"
	if other := otherLLM(p, func(m *engine.ModelSpec) bool { return m.Provider != project.ScriptedProvider }); other != "" {
		line += fmt.Sprintf("; with a real one: pexctl run %s --set planner.llm=%s", path, other)
	}
	return []string{line}
}

// otherLLM is the first llm of the spec's own that will do; those that roles
// made by overrides have a + or a dot in their name.
func otherLLM(p *engine.Program, will func(*engine.ModelSpec) bool) string {
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
	case stop.ProviderError:
		return afterProvider(path, home, p, res)
	case stop.PlannerInvalid, stop.OutputInvalid, stop.Refused, stop.StepFailed:
		line := fmt.Sprintf("next: what was said: pexctl run %s -o json --include conversation", path)
		if asked := rendered(path, p, ""); asked != "" {
			line += " · what was asked: " + asked
		}
		return []string{line}
	default: // the message says all there is
	}
	return nil
}

// afterProvider leads to what works: a look at the llm, another one, or the
// same call later on.
func afterProvider(path, home string, p *engine.Program, res *engine.Result) (lines []string) {
	used := func(m *engine.ModelSpec) bool { return strings.Contains(res.StopReason.Message, "llm "+m.Name+":") }
	i := slices.IndexFunc(p.Models, func(m engine.ModelSpec) bool { return used(&m) && !m.Offline() })
	if i >= 0 {
		lines = append(lines, fmt.Sprintf("next: what is wrong with it: pexctl models ping %s --llm %s", path, fspath.Quote(p.Models[i].Name)))
	}
	other := otherLLM(p, func(m *engine.ModelSpec) bool { return !used(m) })
	if other != "" && len(res.Steps) == 0 {
		return append(lines, fmt.Sprintf("next: another llm of the spec: pexctl run %s --set planner.llm=%s", path, other))
	}
	return append(lines, fmt.Sprintf("next: once it answers: pexctl runs fork %s%s goes on from that call", res.RunID, home))
}
