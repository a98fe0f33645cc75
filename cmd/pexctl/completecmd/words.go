package completecmd

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/scaffold"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/runcmd"
	"github.com/pexctl/pex/cmd/pexctl/speccmd"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/internal/app/catalog"
	samples "github.com/pexctl/pex/specs"
)

// ofRuns are the commands that take a run, ofManyRuns those that take several.
var (
	runCommands      = append([]string{"resume", "runs show", "runs message", "runs cancel", "runs fork", "runs export"}, multiRunCommands...)
	multiRunCommands = []string{"runs diff", "runs rm"}
)

// arguments returns the possible next arguments of a command, unless they are
// files. command is its full name.
func arguments(components *catalog.Catalog, command string, before []string) []string {
	var out []string
	switch {
	case slices.Contains(runCommands, command) && (len(before) == 0 || slices.Contains(multiRunCommands, command)):
		return append(project.RunIDs(), runs.Latest)
	case command == "tools call" && len(before) == 1:
		return toolNames(components, before)
	case len(before) > 0:
	case command == "list":
		return speccmd.Kinds(components)
	case command == "completion":
		return []string{"bash", "fish", "zsh"}
	case command == "new":
		for _, s := range samples.List() {
			out = append(out, s.Name)
		}
	case command == "explain":
		for _, m := range diag.Codes() {
			out = append(out, string(m.Code))
		}
	}
	return out
}

// choice matches the usage of -o, which lists its formats.
var choice = text.Regexp("^`FORMAT`: Output format: ([a-z, ]+)")

// flagValues returns the values of a flag; before holds the words before it. It
// returns nil if the shell should complete files.
func flagValues(components *catalog.Catalog, f cli.Flag, before []string) []string {
	switch name := f.Names()[0]; name {
	case "output":
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			if said := choice().FindStringSubmatch(doc.GetUsage()); said != nil {
				return strings.Split(strings.TrimSpace(said[1]), ", ")
			}
		}
	case "node":
		return nodeNames(components, before)
	case "provider":
		return scaffold.ProviderNames()
	case "set":
		return settablePaths(components, before)
	case "param":
		return parameterNames(components, before)
	case "llm":
		return llmNames(components, before)
	case "replay":
		return slices.Sorted(maps.Keys(runcmd.ReplayLayers))
	case "on-drift":
		return []string{runs.DriftFail, runs.DriftLive}
	case "include":
		return []string{runcmd.Conversation}
	case "color":
		return ui.ColorModes
	case "from":
		return append(project.RunIDs(), runs.Latest)
	}
	return nil
}

// settablePaths returns the paths that --set accepts: those in the spec, and limits.
func settablePaths(components *catalog.Catalog, before []string) []string {
	_, spec := specOf(components, before)
	if spec == nil {
		return nil
	}
	var out []string
	for _, o := range spec.Explain() {
		out = append(out, o.Path+"=")
	}
	for _, name := range []string{"max_cost", "max_duration", "max_tokens", "max_tool_calls"} { // without defaults
		out = append(out, "limits."+name+"=")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func parameterNames(components *catalog.Catalog, before []string) (out []string) {
	p, _ := specOf(components, before)
	if p == nil {
		return nil
	}
	for _, parameter := range p.Parameters {
		out = append(out, parameter.Name+"=")
	}
	return out
}

func llmNames(components *catalog.Catalog, before []string) (out []string) {
	p, _ := specOf(components, before)
	if p == nil {
		return nil
	}
	for i := range p.Models {
		out = append(out, p.Models[i].Name)
	}
	return out
}

// nodeNames returns the nodes whose prompts can be rendered.
func nodeNames(components *catalog.Catalog, before []string) []string {
	p, _ := specOf(components, before)
	if p == nil {
		return nil
	}
	return render.Nodes(p)
}

func toolNames(components *catalog.Catalog, before []string) (out []string) {
	p, _ := specOf(components, before)
	if p == nil {
		return nil
	}
	for i := range p.Tools {
		out = append(out, p.Tools[i].Name)
	}
	return out
}

// specOf returns the spec among the words typed so far: the first that is a
// spec file, or a folder with one. It returns nil if none compiles.
func specOf(components *catalog.Catalog, words []string) (*engine.Program, *dsl.Spec) {
	o := components.Options()
	o.Environ = os.Environ()
	for _, w := range words {
		path := specfs.FileOf(w)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "spec.yaml")
		}
		if kind, err := specfs.Kind(path); err != nil || kind != "Agent" {
			continue
		}
		p, spec, found := dsl.Compile(w, o)
		if found.Failed() {
			return nil, nil
		}
		return p, spec
	}
	return nil, nil
}
