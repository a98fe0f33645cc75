package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// Analyzer finds one kind of likely mistake in a spec that compiles.
type Analyzer struct {
	Name  string      // lower_snake_case, like its file
	Codes []diag.Code // the codes that it may report
	Run   func(*Pass)
}

// Pass holds one spec for one analyzer. It is read-only.
type Pass struct {
	Spec     *Spec
	Program  *engine.Program
	Catalog  engine.Catalog
	Analyzer *Analyzer
	// Nested reports that the spec is loaded because another one calls it.
	Nested bool
	// Uses are the names that templates, expressions, roles and tools refer to:
	// "prompts.x", "parameters.x", "llms.x". "parameters" alone means any
	// parameter.
	Uses map[string]bool
	// Tools are the entries of tools, in the order of the spec.
	Tools            []Tool
	report           *syntax.Report
	files            *specfs.Reader
	trials           []*syntax.Node // test files for UsedByTests; valid once trialsLoaded is set
	trialsLoaded     bool
	trialsUnreadable bool // one of them cannot be read
}

// Tool is an entry of tools as the compiler knows it. The compiler opens no tool,
// so it lacks what only a running server knows.
type Tool struct {
	Spec   *tool.Spec
	Entry  Entry     // as written
	Info   tool.Info // from the tool itself, before overrides of the spec
	Server bool      // it represents the tools of a server
	// Members are the names of the pinned tools of a server, as server__tool.
	// Pinned is set if they are known.
	Members  []string
	Pinned   bool
	Asks     bool            // humans give its result
	Stateful bool            // it stores data between runs, in the memory
	Agent    *engine.Program // the agent that answers its calls; nil if none
}

// Warn adds a warning at a place and returns it, so that the caller can add a
// hint.
func (p *Pass) Warn(code diag.Code, at Place, format string, args ...any) *diag.Diagnostic {
	return p.report.Warn(code, at.at, format, args...)
}

// Error is like Warn, for mistakes that make the spec unusable.
func (p *Pass) Error(code diag.Code, at Place, format string, args ...any) *diag.Diagnostic {
	return p.report.Error(code, at.at, format, args...)
}

// InSpecFile reports whether a place is in the file of the spec itself. Keys of a
// file that several specs share may be used by another of them.
func (p *Pass) InSpecFile(at Place) bool {
	return at.at.Source != nil && at.at.Source.Kind == syntax.SpecFile && at.Path == p.Spec.File
}

// Overridden reports whether a flag or the environment set a value or a part of
// it. What that makes unused is not a mistake of the spec.
func (p *Pass) Overridden(v Value) bool { return overridden(v.v) }

func overridden(v *syntax.Node) bool {
	if v == nil {
		return false
	}
	if v.Source != nil && (v.Source.Kind == syntax.Flag || v.Source.Kind == syntax.Environment) {
		return true
	}
	if slices.ContainsFunc(v.Items, overridden) {
		return true
	}
	for _, e := range v.Entries {
		if overridden(e.Value) {
			return true
		}
	}
	return false
}

// analyze runs the analyzers of the options on a spec that compiled.
func (l *loader) analyze(c *compiler, s *Spec) {
	if len(l.options.Analyzers) == 0 {
		return
	}
	tools := c.knownTools()
	for i := range l.options.Analyzers {
		if l.options.cancelled() {
			return
		}
		a := &l.options.Analyzers[i]
		a.Run(&Pass{
			Spec: s, Program: s.program, Catalog: l.options.Catalog, Analyzer: a, Nested: len(l.chain) > 1, Uses: s.uses, Tools: tools, report: l.Report, files: l.Files,
		})
	}
}

// knownTools returns what the compiler knows about the tools.
func (c *compiler) knownTools() []Tool {
	out := make([]Tool, len(c.tools))
	for i := range c.tools {
		k := Tool{Spec: &c.tools[i], Stateful: c.tools[i].Stateful}
		if e := c.doc.Tools.Find(k.Spec.Name); e != nil {
			k.Entry = Entry{e.Key, shownPlace(e.Position), Value{e.Value}}
		}
		if built := c.builtTools[k.Spec.Name]; built != nil {
			k.Info = built.Info()
			_, k.Server = built.(tool.Toolset)
			_, k.Asks = built.(tool.HumanTool)
			if d, ok := built.(engine.AgentTool); ok {
				k.Agent = d.Program()
			}
		}
		if k.Server {
			k.Members, k.Pinned = c.membersOf(k.Spec.Name)
		}
		out[i] = k
	}
	return out
}
