package trust

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/host"
)

// Access is what the tools and llms that are defined elsewhere start and connect
// to, a line for each; none = nothing.
func Access(f *specfs.Foreign) []string {
	var out []string
	for _, part := range f.Parts {
		var does, keys []string
		if part.Tool != nil {
			does = reachedBy(part.Tool)
		} else {
			does, keys = reachedByModel(part.Model)
		}
		if len(does) == 0 {
			continue
		}
		does = append(does, usedVariables(part.Source, keys)...)
		for _, line := range does {
			line = fmt.Sprintf("%s (%s): %s", part.Path, part.File, line)
			if !slices.Contains(out, line) { // two agents may have the same third within
				out = append(out, line)
			}
		}
	}
	return out
}

// reachedBy is what calls of a tool start and connect to.
func reachedBy(t *tool.Spec) []string {
	if config, ok := t.Config.(tool.AccessDescriber); ok {
		return config.Access()
	}
	return []string{"starts or connects to what the type " + t.Type + " needs"}
}

// reachedByModel is where an llm is, and the variables that may hold its key.
func reachedByModel(m *engine.ModelSpec) (lines, keys []string) {
	if m.Offline() {
		return nil, nil
	}
	line := fmt.Sprintf("sends prompts to %s of %s", m.Params.Model, m.Provider)
	if m.Params.Model == "" {
		line = "sends prompts to " + m.Provider
	}
	if m.BaseURL.Text != "" {
		line += " at " + m.BaseURL.Text
	}
	lines = []string{line}
	if config, ok := m.Config.(tool.AccessDescriber); ok {
		lines = append(lines, config.Access()...)
	}
	if m.APIKeyEnv != "" {
		return lines, nil // it stands in the entry
	}
	return lines, m.KeyVariables().Names
}

// usedVariables names the variables of the environment that an entry names, and
// those that it uses unnamed.
func usedVariables(source json.RawMessage, unnamed []string) []string {
	var entry any
	_ = json.Unmarshal(source, &entry) // the compiler wrote it
	names := slices.Clone(unnamed)
	host.VariablesIn(entry, "", func(name string, _ bool) { names = append(names, name) })
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{"uses the environment's " + strings.Join(slices.Compact(names), ", ")}
}
