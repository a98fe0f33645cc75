package dsl

import (
	"encoding/json"
	"maps"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/edit"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/llm"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/strftime"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// compiler compiles one tree to a Program. Its phases run in the order of
// compile; each prepares what later ones refer to.
type compiler struct {
	*config.Decoder
	*llm.Compiler
	loader   *loader
	tree     *syntax.Node
	fileTree *syntax.Node   // the tree of the file before compilation if it contains agents; otherwise nil
	source   *syntax.Source // of the tree; nil if it is not a spec
	doc      language.Spec

	tools      []tool.Spec
	builtTools map[string]tool.Tool // for their descriptions of themselves
	program    *engine.Program
	usedLLMs   []string
	depth      int                              // nesting depth of the agents that it calls: 0 if it calls none
	callers    int                              // places that call an agent, including those within its agents
	agents     []*Spec                          // agents that it calls, and agents of its file that nothing calls
	embedded   map[*syntax.Node]*engine.Program // compiled agents by the value that names them
	callees    []guard.Tool                     // the tools as expressions know them
}

func newCompiler(l *loader, tree *syntax.Node, dir string) *compiler {
	d := config.NewDecoder(l.Unit, dir)
	c := &compiler{
		Decoder: d, Compiler: llm.NewCompiler(d, tree, &l.options.Catalog, l.options.Prices), loader: l, tree: tree, doc: language.DefaultSpec(),
		builtTools: map[string]tool.Tool{}, embedded: map[*syntax.Node]*engine.Program{},
	}
	c.Language, c.Strict, c.AllowPaths = c, l.options.vetting, l.options.AllowPaths
	return c
}

// NamedPrompts returns the entries of prompts.
func (c *compiler) NamedPrompts() *syntax.Node { return c.doc.Prompts }

// KeyAdvice returns a suggestion for an unknown key.
func (c *compiler) KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice {
	return language.KeyAdvice(e, path, all, &c.loader.options.Catalog, language.SpecSections())
}

// Library reports whether the file is a Library.
func (c *compiler) Library() bool { return c.doc.Kind == specfs.KindLibrary }

// compile runs the phases. The program is valid only if no error was reported. A
// Library has none.
func (c *compiler) compile() *engine.Program {
	c.doc.Kind = syntax.TextOf(c.tree, "kind")
	if c.fileTree = c.loader.outer; c.fileTree == nil && c.tree.Get("agents") != nil {
		c.fileTree = c.tree.Clone()
	}
	if !c.kind() {
		return nil
	}
	c.loader.edits.Apply(c.tree, c.Report)
	c.FindSecrets(c.tree)
	if !c.Library() {
		c.parameters() // before the sections whose expressions and templates refer to parameters
	}
	c.Decode(c.tree, "", &c.doc)
	if !c.Library() && c.tree.Find("metadata") == nil {
		c.Report.Error(diag.MissingKey, c.tree.Position, "missing required key \"metadata\" in the spec").Hint = "write metadata: {name: NAME}"
	}
	c.prompts()
	if c.Library() {
		c.CompileLLMs(c.doc.LLMs)
		c.toolSection()
		c.arguments()
		return nil
	}
	c.program = &engine.Program{
		Name: c.doc.Metadata.Name, Version: c.doc.Metadata.Version, Description: c.doc.Metadata.Description,
		Memory: engine.MemorySettings{
			Backend: c.doc.Memory.Backend, Path: c.doc.Memory.Path, AddressEnv: c.doc.Memory.DSNEnv,
			Durability: c.doc.Memory.Durability, HideHistory: !c.doc.Memory.History,
		},
	}
	phases := []func(){
		c.datetime, c.memoryStore, c.llmSection, c.toolSection, c.checkPins, c.limits, c.guards, c.arguments, c.output, c.nodes, c.checkReplanGuards, c.checkEdits, c.innerAgents,
	}
	for _, phase := range phases {
		if c.loader.options.cancelled() {
			return nil
		}
		phase()
	}
	c.FindSecrets(c.tree) // again, because the tree now contains the texts of files
	c.program.Parameters, c.program.Models, c.program.Tools = c.Parameters, c.Specs, c.tools
	c.program.Prompts = edit.Prompts(c.Prompts, c.doc.Prompts)
	c.recordForeign()
	c.seal()
	return c.program
}

// kind checks that this package can compile the file.
func (c *compiler) kind() bool {
	e := c.tree.Find("kind")
	switch {
	case e == nil || c.doc.Kind == specfs.KindAgent || c.doc.Kind == specfs.KindLibrary:
		return true
	case language.NotAnAgent(c.Report, e.Value):
		return false
	}
	c.Report.Error(diag.WrongKind, e.Value.Position, "unknown kind %s", syntax.Quote(e.Value.Text)).
		Advice = diag.Suggest(e.Value.Text, specfs.Kinds)
	c.doc.Kind = specfs.KindAgent
	return true
}

func (c *compiler) limits() {
	l := c.doc.Limits
	c.program.Limits = engine.Limits{
		MaxSteps: l.MaxSteps, ExecutorMaxIterations: l.ExecutorMaxIterations,
		MessageHistoryLimit: l.MessageHistoryLimit, ExecutorMessageHistoryLimit: l.ExecutorMessageHistoryLimit,
		MaxReplans: l.MaxReplans, MaxToolCalls: l.MaxToolCalls, MaxConsecutiveToolCalls: l.MaxConsecutiveToolCalls,
		MaxTokens: l.MaxTokens, MaxCost: l.MaxCost, MaxDuration: l.MaxDuration,
	}
}

// seal sets the source and digest of the program.
func (c *compiler) seal() {
	tree := c.tree.Shallow()
	tree.Drop("include", "agents", "tests", "evals")
	c.program.Source = json.RawMessage(tree.AppendJSON(nil))
	c.program.Digest = specfs.Digest(c.program.Source)
}

// checkEdits reports edits of prompts that do not exist.
func (c *compiler) checkEdits() {
	c.loader.edits.Check(c.Report, c.Prompts, c.doc.Prompts, c.program.Agents)
}

// datetime reads the format in which prompts show the start time, if they do.
func (c *compiler) datetime() {
	if err := strftime.Check(c.doc.DatetimeFormat); err != nil {
		at := c.tree.Position
		if e := c.tree.Find("datetime_format"); e != nil {
			at = e.Value.Position
		}
		c.Report.Error(diag.NotAllowed, at, "datetime_format: %v", err)
		return
	}
	if c.doc.InjectDatetime {
		c.program.Datetime = c.doc.DatetimeFormat
	}
}

// uses returns the names that something refers to: "prompts.x", "parameters.x",
// "llms.x", "agents.x".
func (c *compiler) uses() map[string]bool {
	out := maps.Clone(c.Used)
	for _, name := range c.usedLLMs {
		out["llms."+name] = true
	}
	return out
}

func (c *compiler) llmSection() { c.CompileLLMs(c.doc.LLMs) }
