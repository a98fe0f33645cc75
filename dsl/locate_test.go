package dsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
)

// TestTemplatePositionsAreExact inserts a reference to an unknown name, which
// contains its own position, into scalars of every style, and checks the position
// that the compiler reports.
func TestTemplatePositionsAreExact(t *testing.T) {
	const bad = "${parameters.nobody}"
	cases := map[string]string{
		"plain":                "x: Look at @",
		"plain, wide runes":    "x: 日本 ä @",
		"plain, folded":        "x: One\n    two\n    three @ four",
		"plain, paragraphs":    "x: One\n\n    two\n\n\n    three @ four",
		"single":               "x: 'It''s @'",
		"single, folded":       "x: 'One\n    it''s\n\n    two @'",
		"double":               `x: "One @"`,
		"double, escapes":      `x: "\tA\u00e9\x41\\\"\U0001F600 @"`,
		"double, folded":       "x: \"One\n    two\n\n    three @\"",
		"double, joined lines": "x: \"One \\\n    two @\"",
		"literal":              "x: |\n    One\n      two\n\n    three @\n",
		"literal, strip":       "x: |-\n      One @\n",
		"literal, indicator":   "x: |2\n      One\n    two @\n",
		"literal, comment":     "x: | # of it\n    One @\n",
		"literal, leading":     "x: |\n\n\n    One @\n",
		"folded":               "x: >\n    One\n    two @\n    three\n",
		"folded, paragraphs":   "x: >-\n    One\n\n    two @\n\n      more\n",
		"flow":                 `f: {a: 1, x: "One @"}`,
	}
	for name, yaml := range cases {
		t.Run(name, func(t *testing.T) {
			yaml = strings.Replace(yaml, "x:", "planner_prompt:", 1)
			spec := head + "planner:\n  " + strings.ReplaceAll(yaml, "\n    ", "\n      ") + "\n"
			spec = strings.Replace(spec, "planner:\n  f: {a: 1, ", "planner: {repair: {}, ", 1)
			before, _, _ := strings.Cut(spec, "@")
			line := strings.Count(before, "\n") + 1
			column := len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1
			write(t, map[string]string{"spec.yaml": strings.Replace(spec, "@", bad, 1)})
			_, found := dsl.Load("spec.yaml", dsl.Options{Catalog: catalog})
			if len(found) != 1 {
				t.Fatalf("found %s in\n%s", found, spec)
			}
			if got, want := fmt.Sprint(found[0].Line, ":", found[0].Column), fmt.Sprint(line, ":", column); got != want {
				t.Errorf("found at %s, not %s:\n%s", got, want, found)
			}
		})
	}
}
