package aurite

import (
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// name assigns each component a unique valid name. Agents, workflows and
// evaluations share one namespace, because they are files in one folder.
func (m *project) name() {
	taken := map[string]map[string]bool{}
	for _, c := range m.parts {
		space := c.kind
		switch c.kind {
		case kindAgent, kindLinear, kindGraph, kindEval:
			space = "file"
		}
		if taken[space] == nil {
			taken[space] = map[string]bool{"lib": space == "file", "spec": space == "file", "end": true}
		}
		c.id = tree.UniqueName(identifier(c.name, c.kind), taken[space])
	}
	if agents := m.byKind(kindAgent); m.as != "" && m.isSingleAgent() {
		agents[0].id = identifier(m.as, kindAgent)
	}
	for _, c := range m.parts {
		if !strings.EqualFold(c.id, strings.ReplaceAll(c.name, " ", "-")) && c.kind != kindOther && c.kind != kindScript {
			m.NoteAt(c.it.File, c.it.Path, convert.Changed, "%q is called %s here: names are letters, digits, _ and -", tree.OneLine(c.name), c.id)
		}
	}
}

// identifier converts the name of a component. Names of files are lower case.
func identifier(name, kind string) string {
	if kind != kindLLM && kind != kindServer {
		name = strings.ToLower(name)
	}
	return tree.Identifier(name, strings.ReplaceAll(kind, "_", "-"))
}

// placeholder matches Aurite's references to environment variables.
var placeholder = text.Regexp(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// setting converts a setting of a server to a template without secrets. name is
// its key, variable the environment variable that replaces a secret.
func (m *project) setting(it *tree.Value, name, variable string) string {
	noted := len(m.Notes)
	out := m.Setting(it, name, variable, placeholder())
	if len(m.Notes) == noted && placeholder().MatchString(it.Peek()) {
		m.Note(it, convert.Changed, "{NAME} is ${env.NAME} here")
	}
	return out
}
