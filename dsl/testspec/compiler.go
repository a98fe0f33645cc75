package testspec

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/llm"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Subject is a compiled spec that tests and suites refer to.
type Subject struct {
	File    string // absolute
	Path    string // File with its agent
	Program *engine.Program
	Tree    *syntax.Node
	Models  []string // the LLMs that it uses
	// ToolNames lists its tools, those of its agents included. servers are entries
	// whose tools are known only when they run.
	ToolNames func() (names, servers []string)
	// Callees returns its tools as expressions know them.
	Callees func() []guard.Tool
}

// Env is the environment for compiling tests and suites.
type Env struct {
	Catalog    *engine.Catalog
	Checks     component.Blueprints
	Prices     *pricing.Table
	AllowPaths []string
	Strict     bool // a key tagged required:"vet" is an error
	// Load compiles a spec with overrides; shown is the name of its file in
	// diagnostics. The Subject is nil if the spec does not compile, or is not of
	// kind Agent.
	Load func(path, shown string, set []string) (s *Subject, kind string, found diag.List)
	// Done reports whether the result is no longer needed.
	Done func() bool
	// Untyped reports a server with unknown tools that an expression refers to;
	// spec is the path of the spec that has it.
	Untyped func(at syntax.Position, server, spec string)
}

// Compiler decodes what refers to specs: it knows their parameters, and the
// prompts of the first.
type Compiler struct {
	*config.Decoder
	*llm.Compiler
	env      *Env
	subjects []*Subject // nil if one of them is unknown
	sections func() []language.Section
	prompts  *syntax.Node
}

var _ config.Language = (*Compiler)(nil)

// NewCompiler returns a Compiler for a tree. With a nil Subject, or none, nothing
// is known about the specs, and any name is allowed.
func NewCompiler(u *config.Unit, env *Env, tree *syntax.Node, dir string, sections func() []language.Section, subjects ...*Subject) *Compiler {
	d := config.NewDecoder(u, dir)
	d.AllowPaths, d.Strict, d.Quiet = env.AllowPaths, env.Strict, true
	c := &Compiler{Decoder: d, Compiler: llm.NewCompiler(d, tree, env.Catalog, env.Prices), env: env, sections: sections}
	d.Language = c
	if c.AnyParameter = len(subjects) == 0 || slices.Contains(subjects, nil); c.AnyParameter {
		return c
	}
	c.subjects = subjects
	for _, s := range subjects {
		for _, p := range s.Program.Parameters {
			c.addParameter(p)
		}
	}
	if v := subjects[0].Tree.Get("prompts"); v != nil && v.Kind == syntax.Map {
		c.prompts = v
	}
	return c
}

// AgentRef leaves a reference empty: tests and suites name no agents.
func (c *Compiler) AgentRef(*syntax.Node, string, *component.AgentRef) {}

// KeyAdvice returns a suggestion for an unknown key.
func (c *Compiler) KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice {
	return language.KeyAdvice(e, path, all, c.env.Catalog, c.sections())
}

// NamedPrompts returns the named prompts of the first spec.
func (c *Compiler) NamedPrompts() *syntax.Node { return c.prompts }

// Library returns false.
func (c *Compiler) Library() bool { return false }

// addParameter adds a known parameter. If another spec declares it differently,
// it has no type. It may be unset if that is possible in one of the specs.
func (c *Compiler) addParameter(p engine.Parameter) {
	i := slices.IndexFunc(c.Parameters, func(q engine.Parameter) bool { return q.Name == p.Name })
	if i < 0 {
		var property any
		_ = json.Unmarshal(p.Schema, &property) // already compiled
		c.Parameters, c.Properties[p.Name] = append(c.Parameters, p), property
		return
	}
	q := c.Parameters[i]
	if !bytes.Equal(p.Schema, q.Schema) {
		c.Properties[p.Name] = nil
	}
	if !p.Required && p.Default == nil {
		c.Parameters[i] = p
	}
}

// checkToolName checks the name of a tool, or a pattern of names.
func (c *Compiler) checkToolName(s *Subject, v *syntax.Node, name string, severity diag.Severity) {
	if s == nil || name == "" {
		return
	}
	names, servers := s.ToolNames()
	matches := func(n string) bool { ok, err := path.Match(name, n); return ok && err == nil }
	served := func(entry string) bool { return slices.Contains(servers, entry) }
	if slices.ContainsFunc(language.ToolEntries(name), served) || slices.ContainsFunc(names, matches) || strings.HasPrefix(name, "*") && len(servers) > 0 {
		return
	}
	c.Report.Add(diag.UnknownTool, severity, v.Position, "%s has no tool %s", c.Files.Shown(s.File), syntax.Quote(name)).Advice = diag.Suggest(name, names)
}

// Parameter returns a declared parameter by name, or nil if there is none.
func Parameter(p *engine.Program, name string) *engine.Parameter {
	i := slices.IndexFunc(p.Parameters, func(p engine.Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Parameters[i]
}
