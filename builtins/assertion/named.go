package assertion

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/trial"
)

// names matches the variables in an expression, with their members.
var names = text.Regexp(`\b(?:trace|parameters|case|output)(?:\.[A-Za-z_]\w*|\[(?:\d+|"[^"]*"|'[^']*')\])+|\boutput\b`)

// parts matches the parts of such a name.
var parts = text.Regexp(`[A-Za-z_]\w*|\d+|"[^"]*"|'[^']*'`)

// Limits of the description of an expression.
const (
	mostNames = 5
	maxValue  = 300 // characters
)

// valuesOf returns the values of the names in an expression. If it only uses output, that is
// the whole output.
func valuesOf(source string, s *trial.Subject) string {
	all := names().FindAllString(source, -1)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 || len(all) == 1 && all[0] == "output" {
		return jsonvalue.Text(s.Output)
	}
	doc, err := json.Marshal(map[string]any{"output": s.Output, "trace": s.Trace, "parameters": s.Parameters, "case": s.Case})
	if err != nil {
		return jsonvalue.Text(s.Output)
	}
	var env any
	if jsonvalue.Unmarshal(doc, &env) != nil {
		return jsonvalue.Text(s.Output)
	}
	var lines []string
	for _, name := range all[:min(len(all), mostNames)] {
		lines = append(lines, name+" is "+valueText(env, name))
	}
	return strings.Join(lines, "\n")
}

// valueText returns the value of a name, as JSON.
func valueText(env any, name string) string {
	for _, part := range parts().FindAllString(name, -1) {
		switch v := env.(type) {
		case map[string]any:
			inner, there := v[strings.Trim(part, `"'`)]
			if !there {
				return "nothing"
			}
			env = inner
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return "nothing"
			}
			env = v[i]
		default:
			return "nothing"
		}
	}
	text := jsonvalue.Compact(env)
	if r := []rune(text); len(r) > maxValue {
		text = string(r[:maxValue]) + "…"
	}
	return text
}
