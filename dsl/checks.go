package dsl

import (
	"regexp"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// The types of checks that the language itself knows.
const (
	exprCheck       = "expr"
	trajectoryCheck = "trajectory"
)

// caseChecks are the checks of a case: its expressions, its trajectory, and
// those that are written out.
func (c *compiler) caseChecks(s *Spec, k *caseKeys, path string) []Check {
	var out []Check
	var values []*value
	take := func(v *value, path string) {
		if check, ok := c.written(s, v, path); ok {
			out, values = append(out, check), append(values, v)
		}
	}
	for i, v := range k.Expect {
		path := join(path, "expect["+itoa(i)+"]")
		if v.kind != text && v.kind != boolean {
			c.wrongType(v, path, "an expression").Hint = expressionHint(v, "other checks stand under checks")
			continue
		}
		take(v, path)
	}
	if v := k.Trajectory; v != nil {
		if v.kind != dict {
			c.wrongType(v, join(path, trajectoryCheck), "a mapping").Hint = "write {tools: [...]}"
		} else {
			whole := v.shallow()
			whole.set("type", v.place, &value{place: v.place, kind: text, text: trajectoryCheck})
			take(whole, join(path, trajectoryCheck))
		}
	}
	for i, v := range k.Checks {
		take(v, join(path, "checks["+itoa(i)+"]"))
	}
	c.nameChecks(out, values)
	return out
}

// written reads one check: text is an expression, else a mapping with the keys
// that all checks have and those of its type. Text becomes such a mapping in
// the tree.
func (c *compiler) written(s *Spec, v *value, path string) (Check, bool) {
	if v.kind == text || v.kind == boolean {
		that := *v
		*v = value{place: v.place, kind: dict, entries: []*entry{
			{"type", v.place, &value{place: v.place, kind: text, text: exprCheck}}, {"that", v.place, &that},
		}}
	}
	if v.kind != dict {
		c.wrongType(v, path, "a check").Hint = "write an expression, or {type: ..., ...}"
		return Check{}, false
	}
	typ := v.get("type")
	if typ == nil {
		c.report.error(diag.MissingKey, v.place, "%s has no type", path).Hint = expressionHint(v, "write {type: contains, ...}, or an expression as text")
		return Check{}, false
	}
	all := c.loader.options.Checks
	b, ok := all.Find(typ.text)
	if !ok {
		c.report.error(diag.UnknownType, typ.place, "there is no check %s", quoted(typ.text)).Advice = diag.Suggest(typ.text, all.Types())
		return Check{}, false
	}
	k, config := defaultCheck(), b.Config()
	c.decode(v, path, &k, config)
	switch k.Type {
	case trajectoryCheck:
		c.expectedTools(s, v)
	case exprCheck:
		c.tracedTools(s, v.get("that"))
		c.tracedArguments(v.get("that"), "checks")
	}
	return Check{Type: k.Type, Name: k.Name, Weight: k.Weight, Negate: k.Not, Config: config, Position: v.place.position()}, true
}

// expressionHint is for a mapping that may be an expression without quotes,
// which YAML took apart at a colon.
func expressionHint(v *value, hint string) string {
	if v.kind == dict && len(v.entries) == 1 && strings.ContainsAny(v.entries[0].key, " .") {
		return "an expression with a colon in it wants quotes"
	}
	return hint
}

// nameChecks gives checks without a name their type, numbered where it stands
// twice, and expressions what they say. Two of one name cannot be told apart.
func (c *compiler) nameChecks(checks []Check, values []*value) {
	taken := map[string]place{}
	for i, check := range checks {
		if check.Name == "" {
			continue
		}
		at := values[i].get("name").place
		if first, ok := taken[check.Name]; ok {
			c.report.error(diag.DuplicateKey, at, "the check %s is already there at %s", quoted(check.Name), where(first)).Hint = "rename one of them"
			continue
		}
		taken[check.Name] = at
	}
	for i := range checks {
		first, mark := checks[i].Type, "_"
		if first == exprCheck {
			first, mark = said(&checks[i], values[i].get("that")), " #"
		}
		name := first
		for n := 2; checks[i].Name == ""; n++ {
			if _, ok := taken[name]; !ok {
				checks[i].Name = name
			} else {
				name = first + mark + itoa(n)
			}
		}
		taken[checks[i].Name] = values[i].place
	}
}

// longestSaid bounds the name that an expression gives itself, in characters.
const longestSaid = 40

// said is an expression on one line, its end cut off where it is long.
func said(c *Check, v *value) string {
	if v == nil || strings.TrimSpace(v.text) == "" {
		return c.Type
	}
	name := strings.Join(strings.Fields(v.text), " ")
	if c.Negate {
		name = "not " + name
	}
	if r := []rune(name); len(r) > longestSaid {
		name = strings.TrimRight(string(r[:longestSaid-1]), " ") + "…"
	}
	return name
}

// expectedTools warns about tools that no run can call.
func (c *compiler) expectedTools(s *Spec, v *value) {
	for _, key := range []string{"tools", "forbidden"} {
		items := v.get(key)
		if items == nil || items.kind != list {
			continue
		}
		for _, it := range items.items {
			name := it
			if it.kind == dict {
				name = it.get("tool")
			}
			pattern := key == "forbidden" && name != nil && strings.ContainsAny(name.text, "*?[") // it may look ahead
			if name != nil && name.kind == text && !pattern && !refers(name) {
				c.toolWord(s, name, name.text, diag.Warning)
				c.expectedArguments(name.text, it.get("args"))
			}
		}
	}
}

// expectedArguments warns about arguments of an expected call that its tool does
// not declare, in any of the specs: a schema may let a model pass others.
func (c *compiler) expectedArguments(tool string, args *value) {
	if args == nil || args.kind != dict || len(c.against) == 0 {
		return
	}
	for _, e := range args.entries {
		var near []string
		lacked := 0
		for _, s := range c.against {
			if of := calleesNamed(s.allCallees(), tool); len(of) == 1 && of[0].Lacks(e.key) {
				lacked, near = lacked+1, append(near, of[0].Arguments()...)
			}
		}
		if lacked == len(c.against) {
			c.report.warn(diag.BadExpression, e.place, "the tool %s has no argument %s", tool, e.key).Advice = diag.Suggest(e.key, near)
		}
	}
}

// traced is where an expression names a tool of the trace.
var traced = regexp.MustCompile(`\btrace\.tools(?:\.([A-Za-z_]\w*)|\[\s*["']([^"']+)["']\s*\])`)

// tracedTools warns about tools in an expression that no run can call: what it
// says of their calls is always the same.
func (c *compiler) tracedTools(s *Spec, v *value) {
	if v == nil || v.kind != text {
		return
	}
	seen := map[string]bool{}
	for _, m := range traced.FindAllStringSubmatchIndex(v.text, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if name := v.text[from:to]; !seen[name] {
			seen[name] = true
			c.toolWord(s, &value{place: v.within(from)}, name, diag.Warning)
		}
	}
}
