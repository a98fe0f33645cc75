package lsp

import "strings"

var blanks = strings.NewReplacer(" ", "", "\t", "")

// meant is a use with the whole of its name: of a.b.c the longest that a family
// declares, as when it is run; what is behind that is a path.
func (s *server) meant(family []*buffer, u use) use {
	for end := len(u.tail); end > 0; end = strings.LastIndexByte(u.tail[:end], '.') {
		written := strings.TrimRight(u.tail[:end], " \t")
		name := u.name + blanks.Replace(written)
		if len(s.definitions(family, u.kind, name)) > 0 {
			u.name, u.to, u.tail = name, u.to+len(written), u.tail[len(written):]
			break
		}
	}
	return u
}

// path is the parameter, other than one that is renamed, of which templates of a
// family write a part in the way of a name; "" = of none.
func (s *server) path(family []*buffer, of *use, name string) string {
	for _, b := range family {
		for _, f := range append(s.prompts(b), b) {
			for _, u := range s.uses(f) {
				whole := u.name + blanks.Replace(u.tail)
				if u.kind != "parameter" || whole != name && !strings.HasPrefix(whole, name+".") {
					continue
				}
				if u = s.meant(family, u); u.name != of.name && len(u.name) < len(name) {
					return u.name
				}
			}
		}
	}
	return ""
}

// renamed is the text of a new name at a place, and from where on it stands: in
// an expression a name that is no word is an index. "" = it cannot stand there.
func (u *use) renamed(name string) (from int, text string) {
	if !u.dotted || newIdentifier().MatchString(name) {
		return u.from, name
	}
	return beforeDot(u.buffer.text.s, u.from), u.node.index(name)
}

// index is a name as an index in the expression that a text is, in quotes that
// the text has room for; "" = brackets cannot stand in it.
func (n *node) index(name string) string {
	if n.style == '"' {
		return "['" + name + "']"
	}
	for up := n.parent; up != nil && n.style == 0; up = up.parent {
		if up.style != 0 {
			return ""
		}
	}
	return `["` + name + `"]`
}

// beforeDot is where an index stands in the place of a dot and a name; ?. stays.
func beforeDot(s string, at int) int {
	if at > 1 && s[at-1] == '.' && s[at-2] != '?' {
		return at - 1
	}
	return at
}
