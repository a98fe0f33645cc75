package fold

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/guard"
)

var (
	// selector is a figure that an expression names.
	selector = regexp.MustCompile(`\b(?:stats|baseline|case)(?:\??\.[A-Za-z_][A-Za-z0-9_]*|\["[^"]*"\]|\['[^']*'\])+`)
	// quoted is a text in an expression.
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`")
	word   = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// mentions says whether an expression names something: as a name of its own or
// as a field, but not within a text.
func mentions(source, name string) bool {
	return slices.Contains(word.FindAllString(quoted.ReplaceAllString(source, ""), -1), name)
}

// figures are the figures that an expression names, as they are.
func figures(source string, env map[string]any) string {
	place, _ := guard.Place("gates_each", nil)
	var out, seen []string
	for _, s := range selector.FindAllString(source, -1) {
		if slices.Contains(seen, s) {
			continue
		}
		seen = append(seen, s)
		v, p := guard.CompileValue(s, place)
		if p != nil {
			continue
		}
		if got, err := v.Eval(env); err == nil {
			if text, ok := plain(got); ok {
				out = append(out, s+" = "+text)
			}
		}
	}
	return strings.Join(out, ", ")
}

// plain is a figure as text; lists and objects are none.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', 4, 64), true
	case int, bool:
		return fmt.Sprint(v), true
	case string:
		return strconv.Quote(v), true
	}
	return "", false
}
