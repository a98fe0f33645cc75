package modelcmd

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/providers/http"
)

// Command returns "pexctl models".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "models", Usage: "List and test the LLMs of a spec",
		Description: ui.Help("",
			"pexctl models ls spec.yaml # Providers, keys, prices and roles",
			"pexctl models ping spec.yaml # Test text, streaming, tool calls and schemas",
		),
		Subcommands: []*cli.Command{modelsLsCommand(env), modelsPingCommand(env)},
	}
}

// llmUse describes how a spec uses one of its LLMs.
type llmUse struct {
	by     []string // roles, nodes of the graph, tools, "fallback of X", agents within the spec
	text   bool     // it returns text; LLMs used only for embeddings need none
	tools  bool     // its replies call tools
	schema bool     // its replies are JSON with a schema
}

// usesOf returns the uses of each LLM of a program, in the order of its nodes.
func usesOf(p *engine.Program, spec *dsl.Spec) map[string]llmUse {
	uses := map[string]llmUse{}
	v := engine.ViewOf(p, engine.Input{Parameters: project.DefaultParameters(p)}, &engine.Result{}, nil, render.Epoch)
	for _, name := range render.Nodes(p) {
		c, err := render.Call(v, name)
		switch {
		case name == render.WithHistory:
		case err != nil:
			addUser(uses, name, judgeCalls(p, name))
		case c.LLM != "":
			u := uses[c.LLM]
			u.by, u.text = append(u.by, name), true
			u.tools = u.tools || engine.NodeIs[engine.StepRunner](p, name) && len(p.Tools) > 0 && callsFunctions(spec)
			u.schema = u.schema || c.Schema != nil
			uses[c.LLM] = u
		}
	}
	if s := p.Memory.Compaction.Summarize; s != nil {
		addUser(uses, "summarizer", []engine.CallBound{{LLM: s.LLM}})
	}
	for i := range p.Tools {
		if config, tells := p.Tools[i].Config.(engine.BoundedTool); tells {
			addUser(uses, "tool "+p.Tools[i].Name, config.WorstCase())
		}
	}
	for i := range p.Models {
		addFallbackUses(&p.Models[i], uses)
	}
	return uses
}

// judgeCalls returns the requests that a node makes itself although another spec
// executes its steps: those of the judge.
func judgeCalls(p *engine.Program, id string) (own []engine.CallBound) {
	if node, tells := p.Nodes[id].(engine.Bounded); tells {
		w := node.WorstCase(p)
		own = slices.Concat(w.Visit, w.Step)
	}
	return own
}

// addUser adds a user to the LLMs of some requests.
func addUser(uses map[string]llmUse, by string, asks []engine.CallBound) {
	for _, a := range asks {
		if a.LLM == "" {
			continue
		}
		u := uses[a.LLM]
		if !slices.Contains(u.by, by) {
			u.by = append(u.by, by)
		}
		u.text = u.text || !a.Vectors
		u.schema = u.schema || a.Role == "judge"
		uses[a.LLM] = u
	}
}

// addFallbackUses adds the uses of an LLM to its fallbacks. A role's override of an
// entry has the entry's fallbacks, which are listed once.
func addFallbackUses(m *engine.ModelSpec, uses map[string]llmUse) {
	of := uses[m.Name]
	if of.by == nil {
		return
	}
	entry, _, _ := strings.Cut(m.Name, "+")
	for _, other := range m.Fallback {
		u := uses[other]
		if by := "fallback of " + entry; !slices.Contains(u.by, by) {
			u.by = append(u.by, by)
		}
		u.text, u.tools, u.schema = u.text || of.text, u.tools || of.tools, u.schema || of.schema
		uses[other] = u
	}
}

// callsFunctions reports whether the executor requires tool calls of its model.
func callsFunctions(spec *dsl.Spec) bool {
	return !slices.ContainsFunc(spec.Explain(), func(o config.Origin) bool {
		return o.Path == "executor.mode" && o.Value != "function_calling"
	})
}

// llmKey describes where an LLM's key comes from.
type llmKey struct {
	Env []string `json:"env"` // the first that is set is used
	Set string   `json:"set"` // the one that is set; "" if none
}

func keyOf(m *engine.ModelSpec) llmKey {
	known := m.KeyVariables()
	k := llmKey{Env: slices.Concat([]string{}, known.Names, known.Others)}
	if m.APIKeyEnv != "" {
		k.Env = []string{m.APIKeyEnv}
	}
	for _, name := range k.Env {
		if os.Getenv(name) != "" {
			k.Set = cmp.Or(k.Set, name)
		}
	}
	return k
}

var credentials = text.Regexp(`//[^/@\s]*@|\?[^$]*$`)

// addressOf returns the address of an LLM as in the spec, with references
// unresolved and passwords masked.
func addressOf(m *engine.ModelSpec) string {
	text := m.BaseURL.Text
	if c, ok := m.Config.(*http.Config); ok && (text == "" || !strings.HasPrefix(c.URL.Text, "/")) {
		text = cmp.Or(c.URL.Text, text)
	}
	return credentials().ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '?' {
			return "?..."
		}
		return "//...@"
	})
}

// addressPath returns the path of an LLM's address in the spec, or "" if the
// provider's own applies.
func addressPath(m *engine.ModelSpec) string {
	if c, ok := m.Config.(*http.Config); ok && c.URL.Text != "" {
		return pathOf(m) + ".options.url"
	}
	if m.BaseURL.Text == "" {
		return ""
	}
	return pathOf(m) + ".base_url"
}

// pathOf returns the path of an LLM in the spec: its entry, or the role that
// overrides it.
func pathOf(m *engine.ModelSpec) string {
	if _, role, derived := strings.Cut(m.Name, "+"); derived {
		return strings.Trim(role, "+")
	}
	return "llms." + m.Name
}
