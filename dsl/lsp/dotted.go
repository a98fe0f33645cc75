package lsp

import (
	"strings"

	"github.com/pexctl/pex/dsl/lsp/outline"
)

var blanks = strings.NewReplacer(" ", "", "\t", "")

// wholeName extends a use to its full name: for a.b.c the longest name that a
// workspace declares, as at run time. What follows is a path.
func (s *server) wholeName(workspace []*buffer, u nameUse) nameUse {
	for end := len(u.tail); end > 0; end = strings.LastIndexByte(u.tail[:end], '.') {
		written := strings.TrimRight(u.tail[:end], " \t")
		name := u.name + blanks.Replace(written)
		if len(s.definitions(workspace, u.kind, name)) > 0 {
			u.name, u.to, u.tail = name, u.to+len(written), u.tail[len(written):]
			break
		}
	}
	return u
}

// path returns the parameter, other than a renamed one, whose path in templates
// of a workspace would conflict with a name, or "" if there is none.
func (s *server) path(workspace []*buffer, of *nameUse, name string) string {
	for _, b := range workspace {
		for _, f := range append(s.prompts(b), b) {
			for _, u := range s.uses(f) {
				whole := u.name + blanks.Replace(u.tail)
				if u.kind != "parameter" || whole != name && !strings.HasPrefix(whole, name+".") {
					continue
				}
				if u = s.wholeName(workspace, u); u.name != of.name && len(u.name) < len(name) {
					return u.name
				}
			}
		}
	}
	return ""
}

// renamedText returns the text for a new name at a place, and where it starts: in an
// expression, a name that is not an identifier becomes an index. It returns "" if
// the name cannot be used there.
func (u *nameUse) renamedText(name string) (from int, text string) {
	if !u.dotted || newIdentifier().MatchString(name) {
		return u.from, name
	}
	return beforeDot(u.buffer.text.s, u.from), indexOf(u.node, name)
}

// indexOf returns a name as an index for the expression in a text, with quotes
// that the text allows, or "" if it cannot contain brackets.
func indexOf(n *outline.Node, name string) string {
	if n.Style == '"' {
		return "['" + name + "']"
	}
	for up := n.Parent; up != nil && n.Style == 0; up = up.Parent {
		if up.Style != 0 {
			return ""
		}
	}
	return `["` + name + `"]`
}

// beforeDot returns the start of an index that replaces a dot and a name; ?.
// stays.
func beforeDot(s string, at int) int {
	if at > 1 && s[at-1] == '.' && s[at-2] != '?' {
		return at - 1
	}
	return at
}
