package aurite

import (
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// longest is how many characters of a name are kept: it is a file's, too.
const longest = 60

// notInName is what no name of a spec holds.
var notInName = text.Regexp(`[^A-Za-z0-9_-]+`)

// name gives each component the name that it has here. Agents, workflows and
// evaluations share one space of names: they are files beside each other.
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
		c.id = uniqueName(identifier(c.name, c.kind), taken[space])
	}
	if agents := m.of(kindAgent); m.as != "" && m.isSingleAgent() {
		agents[0].id = identifier(m.as, kindAgent)
	}
	for _, c := range m.parts {
		if !strings.EqualFold(c.id, strings.ReplaceAll(c.name, " ", "-")) && c.kind != kindOther && c.kind != kindScript {
			m.NoteAt(c.it.File, c.it.Path, convert.Changed, "%q is called %s here: names are letters, digits, _ and -", tree.OneLine(c.name), c.id)
		}
	}
}

// identifier is a name as specs may have it.
func identifier(name, kind string) string {
	id := notInName().ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "-")
	if kind == kindLLM || kind == kindServer {
		id = notInName().ReplaceAllString(strings.TrimSpace(name), "-")
	}
	for strings.Contains(id, "__") { // stands between a server and its tools
		id = strings.ReplaceAll(id, "__", "_")
	}
	id = strings.Trim(id, "-_")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = strings.Trim(strings.ReplaceAll(kind, "_", "-")+"-"+id, "-")
	}
	return strings.TrimRight(id[:min(len(id), longest)], "-_")
}

// uniqueName is the name, or the first with a number after it that is not taken.
func uniqueName(id string, taken map[string]bool) string {
	out := id
	for n := 2; taken[strings.ToLower(out)]; n++ {
		out = id + "-" + strconv.Itoa(n)
	}
	taken[strings.ToLower(out)] = true
	return out
}

// escapeReferences is a text of the source in a template: its dollar signs are none of
// references.
func escapeReferences(s string) string {
	return strings.NewReplacer("${", "$${", "$<", "$$<").Replace(s)
}

// placeholder is how Aurite writes a variable of the environment.
var placeholder = text.Regexp(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// setting is a text of a server's settings as a template, which speaks of no
// secret: name is what it is under, variable the variable of the environment
// that takes the place of one.
func (m *project) setting(it *tree.Value, name, variable string) string {
	s := it.UseText()
	if bare := placeholder().ReplaceAllString(s, ""); !placeholder().MatchString(s) || secret.Known(bare).Looks != "" {
		if hidden, ok := m.maskSecret(it, s, name, variable); ok {
			return hidden
		}
		return escapeReferences(s)
	}
	var out strings.Builder
	last := 0
	for _, at := range placeholder().FindAllStringSubmatchIndex(s, -1) {
		out.WriteString(escapeReferences(s[last:at[0]]) + "${env." + s[at[2]:at[3]] + "}")
		last = at[1]
	}
	m.Note(it, convert.Changed, "{NAME} is ${env.NAME} here")
	return out.String() + escapeReferences(s[last:])
}

// maskSecret is a text with a variable where a secret is; false = there is none.
func (m *project) maskSecret(it *tree.Value, s, name, variable string) (string, bool) {
	begin := tree.AuthScheme().FindString(s)
	value := s[len(begin):]
	if i := strings.IndexByte(value, '='); strings.HasPrefix(value, "-") && i > 0 {
		name, begin, value = strings.TrimLeft(value[:i], "-"), value[:i+1], value[i+1:]
	}
	if bare := tree.UserInfo().ReplaceAllString(value, "$1"); bare != value && !placeholder().MatchString(value) {
		m.Note(it, convert.Todo, "it holds a user and a password and was not taken over: set the environment variable %s to it", variable)
		return escapeReferences(begin) + "${env." + variable + "}", true
	}
	told := secret.Name(name) && tree.KindOfWord(value) == tree.Unknown
	if value == "" || !told && secret.InLiteral(value, name).Looks == "" && secret.InLiteral(s, "").Looks == "" {
		return "", false
	}
	m.Note(it, convert.Todo, "it looks like a secret and was not taken over: set the environment variable %s", variable)
	return escapeReferences(begin) + "${env." + variable + "}", true
}

// notInVariable is what no name of an environment variable holds.
var notInVariable = text.Regexp(`[^A-Z0-9_]+`)

// variable makes the name of an environment variable of words.
func variable(words ...string) string {
	s := notInVariable().ReplaceAllString(strings.ToUpper(strings.Join(words, "_")), "_")
	for strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	if s = strings.Trim(s, "_"); s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "PEX_" + s
	}
	return s
}
