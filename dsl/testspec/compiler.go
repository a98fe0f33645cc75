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
	Path    string // File, with the agent in it that is meant
	Program *engine.Program
	Tree    *syntax.Node
	Models  []string // the llms that it uses
	// ToolNames lists its tools, those of its agents included. servers are entries
	// whose tools are known only when they run.
	ToolNames func() (names, servers []string)
	// Callees are its tools as expressions know them.
	Callees func() []guard.Tool
}

// Env is what compiling tests and suites needs of its surroundings.
type Env struct {
	Catalog    *engine.Catalog
	Checks     component.Blueprints
	Prices     *pricing.Table
	AllowPaths []string
	Strict     bool // a key with required:"vet" is an error
	// Load compiles a spec with overrides; shown is what diagnostics call its file. The
	// Subject is nil where the spec does not compile, or is of another kind than Agent.
	Load func(path, shown string, set []string) (s *Subject, kind string, found diag.List)
	// Done reports that the result is no longer needed.
	Done func() bool
	// Untyped reports a server whose tools an expression refers to and nothing is known
	// of; spec is the path of the spec that has it.
	Untyped func(at syntax.Position, server, spec string)
}

// Compiler decodes what refers to specs: it knows their parameters, and the prompts
// of the first.
type Compiler struct {
	*config.Decoder
	*llm.Compiler
	env      *Env
	subjects []*Subject // nil = one of them is not known
	sections func() []language.Section
	prompts  *syntax.Node
}

var _ config.Language = (*Compiler)(nil)

// NewCompiler makes a Compiler for a tree. With a nil Subject, or none, nothing is
// known of the specs, and any name may be used.
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

// KeyAdvice suggests what to write for a key that does not exist.
func (c *Compiler) KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice {
	return language.KeyAdvice(e, path, all, c.env.Catalog, c.sections())
}

// NamedPrompts are those of the first spec.
func (c *Compiler) NamedPrompts() *syntax.Node { return c.prompts }

// Library is false.
func (c *Compiler) Library() bool { return false }

// addParameter adds a parameter to those that are known. One that another spec declares
// otherwise has no type, and may be unset if it may be in one of them.
func (c *Compiler) addParameter(p engine.Parameter) {
	i := slices.IndexFunc(c.Parameters, func(q engine.Parameter) bool { return q.Name == p.Name })
	if i < 0 {
		var property any
		_ = json.Unmarshal(p.Schema, &property) // it was compiled
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

// Parameter is a declared parameter by its name; nil = there is none.
func Parameter(p *engine.Program, name string) *engine.Parameter {
	i := slices.IndexFunc(p.Parameters, func(p engine.Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Parameters[i]
}
