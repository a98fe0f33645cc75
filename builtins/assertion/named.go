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

// names are the values that an expression is about, and their parts.
var names = text.Regexp(`\b(?:trace|parameters|case|output)(?:\.[A-Za-z_]\w*|\[(?:\d+|"[^"]*"|'[^']*')\])+|\boutput\b`)

// parts are the steps of such a name.
var parts = text.Regexp(`[A-Za-z_]\w*|\d+|"[^"]*"|'[^']*'`)

// The bounds of what is told of an expression.
const (
	mostNames = 5
	mostValue = 300 // characters
)

// found is what the names of an expression stand for; of one that is about the
// output only, the output.
func found(source string, s *trial.Subject) string {
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
		lines = append(lines, name+" is "+worth(env, name))
	}
	return strings.Join(lines, "\n")
}

// worth is the value of a name, as JSON.
func worth(env any, name string) string {
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
	if r := []rune(text); len(r) > mostValue {
		text = string(r[:mostValue]) + "…"
	}
	return text
}
