package guard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// unknownName is a name that some tools have no argument of.
type unknownName struct {
	name    string
	lacking []*Callee
	having  []string
	near    []string // the names there are
	outer   bool
	open    bool   // a tool that is not known may have it
	of      string // the object, as written
}

// named notes that a field is asked of an object that is, or is in, the
// arguments of a tool.
func (u *uses) named(n, of ast.Node, from Range, name string) {
	if from.origin == nil || from.kinds&isObject == 0 {
		return
	}
	at := u.at(n)
	k := u.unknown[at]
	if k == nil {
		k = &unknownName{name: name, outer: from.origin.name == "", of: subject(of)}
		u.unknown[at] = k
	}
	switch {
	case from.origin.tool.Server:
		k.open = true
		u.unpinned(at, from.origin.tool)
		return
	case !from.named:
		k.open = true
		return
	}
	for field := range from.fields {
		if !slices.Contains(k.near, field) {
			k.near = append(k.near, field)
		}
	}
	if _, ok := from.fields[name]; ok {
		if !slices.Contains(k.having, from.origin.tool.Name) {
			k.having = append(k.having, from.origin.tool.Name)
		}
	} else if !slices.Contains(k.lacking, from.origin.tool) {
		k.lacking = append(k.lacking, from.origin.tool)
	}
}

// misuse says which tools have no argument of the name.
func (k *unknownName) misuse(at int) (m Misuse, ok bool) {
	if len(k.lacking) == 0 {
		return m, false
	}
	slices.Sort(k.near)
	names := make([]string, len(k.lacking))
	for i, c := range k.lacking {
		names[i] = c.Name
	}
	slices.Sort(names)
	m = Misuse{Offset: at, Hint: suggest(k.name, k.near)}
	switch {
	case !k.outer:
		m.Message = fmt.Sprintf("%s of %s has no field %s", k.of, strings.Join(names, ", "), k.name)
	case len(names) == 1:
		m.Message = fmt.Sprintf("the tool %s has no argument %s", names[0], k.name)
	default:
		m.Message = fmt.Sprintf("the tools %s have no argument %s", listed(names), k.name)
	}
	if len(k.having) > 0 && k.outer {
		slices.Sort(k.having)
		name, args := "tool.name", k.of
		if args != "tool.args" {
			name, args = ".tool", ".args"
		}
		test := name + " == " + strconv.Quote(k.having[0])
		if len(k.having) > 1 {
			test = name + ` in ["` + strings.Join(k.having, `", "`) + `"]`
		}
		m.Hint = fmt.Sprintf(`write %s and ... in front of it, or test "%s" in %s`, test, k.name, args)
	}
	return m, true
}
