package convert

import (
	"regexp"
	"strings"

	"github.com/pexctl/pex/engine/secret"
)

// hideSecrets takes keys and passwords out of the bodies before anything is made
// of them. Where a connector sends one a variable of the environment takes its
// place; from what is said to a model it is removed.
func (m *importer) hideSecrets() {
	for _, c := range m.connectors {
		c.hide(&m.log, c.root, "")
	}
	m.unsay(m.agent)
	if m.played != nil {
		m.unsay(m.played)
	}
}

// unsay removes keys of known forms from the texts of an agent, but for what its
// tools are set to: that is sent, not said.
func (m *importer) unsay(it *item) {
	for i, sub := range it.items {
		if it.kind == object && strings.HasPrefix(it.path, "tools[") && (it.keys[i] == "parameters" || it.keys[i] == "config") {
			continue
		}
		m.unsay(sub)
	}
	if it.kind == text && secret.Known(it.text).Looks != "" {
		it.text = m.words(it)
	}
}

// hide does so with all texts of a connector; name is the key they stand under.
// What credential holds is never read.
func (c *connector) hide(l *log, it *item, name string) {
	for i, sub := range it.items {
		key := name
		if it.kind == object {
			key = it.keys[i]
		}
		if key != "credential" {
			c.hide(l, sub, key)
		}
	}
	if it.kind != text {
		return
	}
	if bare := withUser().ReplaceAllString(it.text, "$1"); bare != it.text {
		it.text = bare
		l.note(it, Todo, "the user and the password in the address were not taken over: a header can send them, Authorization: Basic ${env.NAME}")
	}
	if s := c.hidden(it.text, name); s != it.text {
		it.text = s
		l.note(it, Todo, "what looks like a secret was not taken over: set the variable that stands in its place, where the spec has it: %s", strings.Join(variables(s), ", "))
	}
}

var (
	withUser = lazily(`(://)[^/?#\s@"]+@`)
	inQuery  = lazily(`([?&])([^=&#\s"]+)=([^&#\s"]+)`)
	inMember = lazily(`(")([A-Za-z0-9_.-]+)"\s*:\s*"([^"\\]+)"`)
	envName  = lazily(`\$\{env\.[^}]+\}`)
)

func variables(s string) []string { return envName().FindAllString(s, -1) }

// hidden is a text with variables where keys and passwords are: in a query, in
// JSON, as a whole under a name that tells, or of a known form.
func (c *connector) hidden(s, name string) string {
	for _, at := range []*regexp.Regexp{inQuery(), inMember()} {
		s = at.ReplaceAllStringFunc(s, func(pair string) string {
			m := at.FindStringSubmatch(pair)
			if !secretive(m[2], m[3]) {
				return pair
			}
			i := strings.LastIndex(pair, m[3])
			return pair[:i] + c.instead(m[2]) + pair[i+len(m[3]):]
		})
	}
	begin := scheme().FindString(s)
	if value := s[len(begin):]; secretive(name, value) || begin != "" && secret.InLiteral(s, "").Looks != "" {
		return begin + c.instead(name)
	}
	for range 100 {
		seen := secret.Known(s)
		if seen.Looks == "" {
			break
		}
		s = strings.Replace(s, seen.Text, c.instead(name), 1)
	}
	return s
}

// instead is the variable that takes the place of a secret of this connector, of
// which others may have one under the same name.
func (c *connector) instead(name string) string {
	return "${env." + c.variable(c.body.at("name").peek()+"_"+name) + "}"
}

// secretive says that a value is one to hide, by the name it stands under. What
// is filled in later, and numbers, are none, nor is how somebody is known.
func secretive(name, value string) bool {
	kind := strings.HasSuffix(name, "_type") || strings.HasSuffix(name, "_mode")
	return value != "" && !kind && secret.Name(name) && kindOfWord(value) == unknown && !unfilled(value) &&
		!strings.HasPrefix(value, "$.") && !strings.Contains(value, "${") && !strings.ContainsAny(value, " \n{[")
}
