package opensearch

import (
	"regexp"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// hideSecrets removes keys and passwords from the bodies before the conversion.
// In what a connector sends, it replaces them by references to environment
// variables; from texts for a model it removes them.
func (m *importer) hideSecrets() {
	for _, c := range m.connectors {
		c.hideSecrets(&m.Log, c.root, "")
	}
	m.redactTexts(m.agent)
	if m.executorAgent != nil {
		m.redactTexts(m.executorAgent)
	}
}

// redactTexts removes known kinds of keys from the texts of an agent, except the
// settings of its tools, which are sent to a server and not to a model.
func (m *importer) redactTexts(it *tree.Value) {
	for i, sub := range it.Items {
		if it.Kind == tree.Object && strings.HasPrefix(it.Path, "tools[") && (it.Keys[i] == "parameters" || it.Keys[i] == "config") {
			continue
		}
		m.redactTexts(sub)
	}
	if it.Kind == tree.Text && secret.FindWellKnown(it.Text).Kind != "" {
		it.Text = m.UseRedacted(it)
	}
}

// hideSecrets does the same for all texts of a connector. name is their key. It
// never reads the content of credential.
func (c *connector) hideSecrets(l *tree.Log, it *tree.Value, name string) {
	for i, sub := range it.Items {
		key := name
		if it.Kind == tree.Object {
			key = it.Keys[i]
		}
		if key != "credential" {
			c.hideSecrets(l, sub, key)
		}
	}
	if it.Kind != tree.Text {
		return
	}
	if bare := tree.UserInfo().ReplaceAllString(it.Text, "$1"); bare != it.Text {
		it.Text = bare
		l.Note(it, convert.Todo, "the user and the password in the address were not taken over: a header can send them, Authorization: Basic ${env.NAME}")
	}
	if s := c.maskSecrets(it.Text, name); s != it.Text {
		it.Text = s
		l.Note(it, convert.Todo, "a likely secret was not imported; set the environment variable that replaces it in the spec: %s", strings.Join(variables(s), ", "))
	}
}

var (
	inQuery  = text.Regexp(`([?&])([^=&#\s"]+)=([^&#\s"]+)`)
	inMember = text.Regexp(`(")([A-Za-z0-9_.-]+)"\s*:\s*"([^"\\]+)"`)
	envName  = text.Regexp(`\$\{env\.[^}]+\}`)
)

func variables(s string) []string { return envName().FindAllString(s, -1) }

// maskSecrets returns a text with variables in place of keys and passwords: in a
// query, in JSON, as the value of a key with a telling name, or of a known kind.
func (c *connector) maskSecrets(s, name string) string {
	for _, at := range []*regexp.Regexp{inQuery(), inMember()} {
		s = at.ReplaceAllStringFunc(s, func(pair string) string {
			m := at.FindStringSubmatch(pair)
			if !isSecret(m[2], m[3]) {
				return pair
			}
			i := strings.LastIndex(pair, m[3])
			return pair[:i] + c.placeholder(m[2]) + pair[i+len(m[3]):]
		})
	}
	begin := tree.AuthScheme().FindString(s)
	if value := s[len(begin):]; isSecret(name, value) || begin != "" && secret.InLiteral(s, "").Kind != "" {
		return begin + c.placeholder(name)
	}
	for range 100 {
		seen := secret.FindWellKnown(s)
		if seen.Kind == "" {
			break
		}
		s = strings.Replace(s, seen.Text, c.placeholder(name), 1)
	}
	return s
}

// placeholder returns the variable that replaces a secret of this connector.
// Other connectors may have a secret with the same name.
func (c *connector) placeholder(name string) string {
	return "${env." + c.variable(c.body.Get("name").Peek()+"_"+name) + "}"
}

// isSecret reports whether a value must be hidden, by its name. Placeholders,
// numbers and user names are not secrets.
func isSecret(name, value string) bool {
	kind := strings.HasSuffix(name, "_type") || strings.HasSuffix(name, "_mode")
	return value != "" && !kind && secret.Name(name) && tree.KindOfWord(value) == tree.Unknown && !isPlaceholder(value) &&
		!strings.HasPrefix(value, "$.") && !strings.Contains(value, "${") && !strings.ContainsAny(value, " \n{[")
}
