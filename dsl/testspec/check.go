package testspec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

// caseChecks returns the checks of a case: its expressions, its trajectory, and
// the section checks.
func (c *Compiler) caseChecks(s *Subject, k *language.CaseKeys, path string) []Check {
	var out []Check
	var values []*syntax.Node
	take := func(v *syntax.Node, path string) {
		if check, ok := c.DecodeCheck(s, v, path); ok {
			out, values = append(out, check), append(values, v)
		}
	}
	for i, v := range k.Expect {
		path := config.Join(path, "expect["+strconv.Itoa(i)+"]")
		if v.Kind != syntax.Text && v.Kind != syntax.Bool {
			c.WrongType(v, path, "an expression").Hint = ExpressionHint(v, "write other checks under checks")
			continue
		}
		take(v, path)
	}
	if v := k.Trajectory; v != nil {
		if v.Kind != syntax.Map {
			c.WrongType(v, config.Join(path, language.TrajectoryCheck), "a mapping").Hint = "write {tools: [...]}"
		} else {
			whole := v.Shallow()
			whole.Set("type", v.Position, &syntax.Node{Position: v.Position, Kind: syntax.Text, Text: language.TrajectoryCheck})
			take(whole, config.Join(path, language.TrajectoryCheck))
		}
	}
	for i, v := range k.Checks {
		take(v, config.Join(path, "checks["+strconv.Itoa(i)+"]"))
	}
	c.NameChecks(out, values)
	return out
}

// DecodeCheck decodes one check: text is an expression, a mapping has the keys
// common to all checks and those of its type. It replaces text by such a mapping
// in the tree.
func (c *Compiler) DecodeCheck(s *Subject, v *syntax.Node, path string) (Check, bool) {
	if v.Kind == syntax.Text || v.Kind == syntax.Bool {
		that := *v
		*v = syntax.Node{Position: v.Position, Kind: syntax.Map, Entries: []*syntax.Entry{
			{Key: "type", Position: v.Position, Value: &syntax.Node{Position: v.Position, Kind: syntax.Text, Text: language.ExprCheck}}, {Key: "that", Position: v.Position, Value: &that},
		}}
	}
	if v.Kind != syntax.Map {
		c.WrongType(v, path, "a check").Hint = "write an expression or {type: ..., ...}"
		return Check{}, false
	}
	typ := v.Get("type")
	if typ == nil {
		c.Report.Error(diag.MissingKey, v.Position, "missing required key \"type\" in %s", path).Hint = ExpressionHint(v, "write {type: contains, ...}, or an expression as a string")
		return Check{}, false
	}
	all := c.env.Checks
	b, ok := all.Find(typ.Text)
	if !ok {
		c.Report.Error(diag.UnknownType, typ.Position, "unknown check %s", syntax.Quote(typ.Text)).Advice = diag.Suggest(typ.Text, all.Types())
		return Check{}, false
	}
	k, config := language.DefaultCheck(), b.Config()
	c.Decode(v, path, &k, config)
	switch k.Type {
	case language.TrajectoryCheck:
		c.expectedTools(s, v)
	case language.ExprCheck:
		c.tracedTools(s, v.Get("that"))
		c.tracedArguments(v.Get("that"), "checks")
	}
	return Check{Type: k.Type, Name: k.Name, Weight: k.Weight, Negate: k.Not, Config: config, Position: PositionOf(v.Position)}, true
}

// ExpressionHint returns the hint for a mapping that may be an unquoted
// expression with a colon.
func ExpressionHint(v *syntax.Node, hint string) string {
	if v.Kind == syntax.Map && len(v.Entries) == 1 && strings.ContainsAny(v.Entries[0].Key, " .") {
		return "quote an expression that contains a colon"
	}
	return hint
}

// NameChecks names checks without a name after their type, numbered if necessary,
// and expressions after their text. It reports duplicate names.
func (c *Compiler) NameChecks(checks []Check, values []*syntax.Node) {
	taken := map[string]syntax.Position{}
	for i, check := range checks {
		if check.Name == "" {
			continue
		}
		at := values[i].Get("name").Position
		if first, ok := taken[check.Name]; ok {
			c.Report.Error(diag.DuplicateKey, at, "duplicate check %s; the first one is at %s", syntax.Quote(check.Name), syntax.Where(first)).Hint = "rename one of them"
			continue
		}
		taken[check.Name] = at
	}
	for i := range checks {
		first, mark := checks[i].Type, "_"
		if first == language.ExprCheck {
			first, mark = expressionName(&checks[i], values[i].Get("that")), " #"
		}
		name := first
		for n := 2; checks[i].Name == ""; n++ {
			if _, ok := taken[name]; !ok {
				checks[i].Name = name
			} else {
				name = first + mark + strconv.Itoa(n)
			}
		}
		taken[checks[i].Name] = values[i].Position
	}
}

// MaxExpressionName is the maximum length of a name made from an expression, in
// characters.
const MaxExpressionName = 40

// expressionName returns an expression on one line, truncated if it is long.
func expressionName(c *Check, v *syntax.Node) string {
	if v == nil || strings.TrimSpace(v.Text) == "" {
		return c.Type
	}
	name := strings.Join(strings.Fields(v.Text), " ")
	if c.Negate {
		name = "not " + name
	}
	if r := []rune(name); len(r) > MaxExpressionName {
		name = strings.TrimRight(string(r[:MaxExpressionName-1]), " ") + "…"
	}
	return name
}

// expectedTools warns about tools that no run can call.
func (c *Compiler) expectedTools(s *Subject, v *syntax.Node) {
	for _, key := range []string{"tools", "forbidden"} {
		items := v.Get(key)
		if items == nil || items.Kind != syntax.List {
			continue
		}
		for _, it := range items.Items {
			name := it
			if it.Kind == syntax.Map {
				name = it.Get("tool")
			}
			pattern := key == "forbidden" && name != nil && strings.ContainsAny(name.Text, "*?[") // may refer to tools that do not exist yet
			if name != nil && name.Kind == syntax.Text && !pattern && !HasReference(name) {
				c.checkToolName(s, name, name.Text, diag.Warning)
				c.expectedArguments(name.Text, it.Get("args"))
			}
		}
	}
}

// expectedArguments warns about arguments of an expected call that the tool does
// not declare in any of the specs. A schema may still allow a model to pass
// others.
func (c *Compiler) expectedArguments(tool string, args *syntax.Node) {
	if args == nil || args.Kind != syntax.Map || len(c.subjects) == 0 {
		return
	}
	for _, e := range args.Entries {
		var near []string
		lacked := 0
		for _, s := range c.subjects {
			if of := CalleesNamed(s.Callees(), tool); len(of) == 1 && interval.Lacks(&of[0], e.Key) {
				lacked, near = lacked+1, append(near, interval.Arguments(&of[0])...)
			}
		}
		if lacked == len(c.subjects) {
			c.Report.Warn(diag.BadExpression, e.Position, "tool %q has no argument %q", tool, e.Key).Advice = diag.Suggest(e.Key, near)
		}
	}
}

// toolReference matches the name of a tool of the trace in an expression.
var toolReference = text.Regexp(`\btrace\.tools(?:\.([A-Za-z_]\w*)|\[\s*["']([^"']+)["']\s*\])`)

// tracedTools warns about tools in an expression that no run can call, so the
// expression is constant.
func (c *Compiler) tracedTools(s *Subject, v *syntax.Node) {
	if v == nil || v.Kind != syntax.Text {
		return
	}
	seen := map[string]bool{}
	for _, m := range toolReference().FindAllStringSubmatchIndex(v.Text, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		if name := v.Text[from:to]; !seen[name] {
			seen[name] = true
			c.checkToolName(s, &syntax.Node{Position: v.PositionAt(from)}, name, diag.Warning)
		}
	}
}

// tracedArguments checks the arguments of calls in a trace against the tools of
// the specs. A mistake for some of the specs may be intended for the others.
func (c *Compiler) tracedArguments(v *syntax.Node, place string) {
	if v == nil || v.Kind != syntax.Text || len(c.subjects) == 0 {
		return
	}
	env, ok := c.GuardEnv(place)
	if !ok {
		return
	}
	var wrong []interval.Misuse
	for i, s := range c.subjects {
		found := interval.Misuses(v.Text, env, interval.Bounds{}, s.Callees())
		if i == 0 {
			wrong = found
		}
		wrong = slices.DeleteFunc(wrong, func(m interval.Misuse) bool {
			return !slices.ContainsFunc(found, func(n interval.Misuse) bool { return n.Offset == m.Offset && n.Server == m.Server })
		})
	}
	c.ReportMisuses(v, wrong, func(at syntax.Position, server string) { c.env.Untyped(at, server, c.subjects[0].Path) })
}

// CalleesNamed returns the callees with a name.
func CalleesNamed(all []guard.Tool, name string) []guard.Tool {
	for i := range all {
		if all[i].Name == name {
			return all[i : i+1]
		}
	}
	return nil
}

// HasReference reports whether a value contains the start of a reference.
func HasReference(v *syntax.Node) bool {
	return strings.Contains(v.Text, "${") || strings.Contains(v.Text, "$<") || slices.ContainsFunc(v.Items, HasReference) ||
		slices.ContainsFunc(v.Entries, func(e *syntax.Entry) bool { return HasReference(e.Value) })
}
