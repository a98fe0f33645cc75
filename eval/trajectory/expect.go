package trajectory

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// Match is how the calls of a run must relate to the expected ones.
type Match string

// The matches.
const (
	Exact    Match = "exact"     // the same calls in the same order, no others
	InOrder  Match = "in_order"  // the expected calls in this order, with others between them
	AnyOrder Match = "any_order" // the same calls in any order, no others
	Subset   Match = "subset"    // only expected calls, not necessarily all
	Superset Match = "superset"  // all expected calls in any order, and others
)

// Compare is how arguments are compared.
type Compare string

// The comparisons.
const (
	Whole   Compare = "exact"   // equal, and no others
	Partial Compare = "partial" // the expected arguments are equal at any depth; others are ignored
	Ignore  Compare = "ignore"
)

// Rule sets how the arguments of a call are compared, as a whole and by name. The zero value defers to the next
// rule.
type Rule struct {
	Compare Compare
	Fields  map[string]Compare
}

// Call is an expected call.
type Call struct {
	Tool string         // name, or a pattern with *
	Args map[string]any // nil = any
	Rule Rule           // takes precedence over those of the Expectation
}

// MaxCalls is the maximum number of expected calls.
const MaxCalls = 500

// Expectation is the expected calls of a run and the bounds of its statistics.
type Expectation struct {
	Match     Match           // "" = InOrder
	Calls     []Call          // nil = calls are not compared; empty = no call is expected
	Rule      Rule            // default for all arguments; Compare "" = Partial
	Tools     map[string]Rule // by name of a tool, or a pattern with *; takes precedence over Rule
	Forbidden []string        // tools that must not be called, names or patterns
	Bounds    Bounds
}

// Bounds are upper limits for the statistics of a run; nil = no limit.
type Bounds struct {
	Steps, Replans, ToolCalls, ModelCalls, Tokens *int
	Cost                                          *float64
}

// Check returns an error if the expectation is invalid.
func (e *Expectation) Check() error {
	switch e.Match {
	case "", Exact, InOrder, AnyOrder, Subset, Superset:
	default:
		return fmt.Errorf("invalid match %q: use exact, in_order, any_order, subset or superset", e.Match)
	}
	if len(e.Calls) > MaxCalls {
		return fmt.Errorf("%d calls are expected; the maximum is %d", len(e.Calls), MaxCalls)
	}
	patterns := slices.Concat(e.Forbidden, slices.Sorted(maps.Keys(e.Tools)))
	rules := []Rule{e.Rule}
	for _, name := range slices.Sorted(maps.Keys(e.Tools)) {
		rules = append(rules, e.Tools[name])
	}
	for _, c := range e.Calls {
		patterns, rules = append(patterns, c.Tool), append(rules, c.Rule)
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Errorf("%q is not a tool name or pattern: use a name such as read_file, or a prefix such as read_*", p)
		}
	}
	for _, r := range rules {
		if err := r.check(); err != nil {
			return err
		}
	}
	return nil
}

func (r Rule) check() error {
	for _, c := range append([]Compare{r.Compare}, slices.Collect(maps.Values(r.Fields))...) {
		if c != "" && c != Whole && c != Partial && c != Ignore {
			return fmt.Errorf("invalid comparison %q of arguments: use exact, partial or ignore", c)
		}
	}
	return nil
}

// ruleFor returns how the arguments of a call of a tool are compared with those of c.
func (e *Expectation) ruleFor(c *Call, tool string) Rule {
	out := Rule{Compare: Partial, Fields: map[string]Compare{}}
	for _, r := range []Rule{e.Rule, e.ofTool(tool), c.Rule} {
		if r.Compare != "" {
			out.Compare = r.Compare
		}
		maps.Copy(out.Fields, r.Fields)
	}
	return out
}

// ofTool returns the rule of a tool, by its name or else by the first matching pattern.
func (e *Expectation) ofTool(tool string) Rule {
	if r, ok := e.Tools[tool]; ok {
		return r
	}
	for _, p := range slices.Sorted(maps.Keys(e.Tools)) {
		if text.Match(p, tool) {
			return e.Tools[p]
		}
	}
	return Rule{}
}

// ParseCalls parses expected calls: a list of tool names and of mappings with tool, args, compare and fields.
func ParseCalls(v any) ([]Call, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("tools must be a list, such as [list_files, {tool: read_file, args: {path: a.md}}]")
	}
	out := make([]Call, len(list))
	for i, it := range list {
		var err error
		if out[i], err = parseCall(it); err != nil {
			return nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
	}
	return out, nil
}

func parseCall(v any) (c Call, err error) {
	m, ok := v.(map[string]any)
	if !ok {
		if c.Tool, ok = v.(string); !ok {
			return c, fmt.Errorf("must be the name of a tool, or a mapping with tool and args")
		}
		return c, nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch key {
		case "tool":
			c.Tool, ok = m[key].(string)
		case "args":
			c.Args, ok = m[key].(map[string]any)
		case "compare":
			var word string
			word, ok = m[key].(string)
			c.Rule.Compare = Compare(word)
		case "fields":
			c.Rule.Fields, ok = comparisons(m[key])
		default:
			return c, fmt.Errorf("unknown key %q; the keys are tool, args, compare, fields", key)
		}
		if !ok {
			return c, fmt.Errorf("%s must be %s", key, wants[key])
		}
	}
	if strings.TrimSpace(c.Tool) == "" {
		return c, fmt.Errorf("missing required key tool")
	}
	return c, nil
}

var wants = map[string]string{
	"tool": "the name of a tool", "args": "a mapping of arguments", "compare": "exact, partial or ignore",
	"fields": "a mapping of names to exact, partial or ignore",
}

func comparisons(v any) (map[string]Compare, bool) {
	m, ok := v.(map[string]any)
	out := make(map[string]Compare, len(m))
	for name, word := range m {
		text, isText := word.(string)
		out[name], ok = Compare(text), ok && isText
	}
	return out, ok
}
