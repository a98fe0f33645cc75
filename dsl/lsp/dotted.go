package lsp

import (
	"strings"

	"github.com/pexctl/pex/dsl/lsp/outline"
)

var blanks = strings.NewReplacer(" ", "", "\t", "")

// wholeName is a use with the whole of its name: of a.b.c the longest that a workspace
// declares, as when it is run; what is after that is a path.
func (s *server) wholeName(workspace []*buffer, u use) use {
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

// path is the parameter, other than one that is renamed, of which templates of a
// workspace write a part in the way of a name; "" = of none.
func (s *server) path(workspace []*buffer, of *use, name string) string {
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

// renamed is the text of a new name at a place, and from where on it is: in
// an expression a name that is no word is an index. "" = it cannot be there.
func (u *use) renamed(name string) (from int, text string) {
	if !u.dotted || newIdentifier().MatchString(name) {
		return u.from, name
	}
	return beforeDot(u.buffer.text.s, u.from), indexOf(u.node, name)
}

// indexOf is a name as an index in the expression that a text is, in quotes that
// the text has room for; "" = brackets cannot be in it.
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

// beforeDot is where an index is in the place of a dot and a name; ?. stays.
func beforeDot(s string, at int) int {
	if at > 1 && s[at-1] == '.' && s[at-2] != '?' {
		return at - 1
	}
	return at
}
