package opensearch_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/opensearch"
)

// TestAnyValueConvertsOrFails replaces each value of the sources by another
// one, one at a time: the result is valid YAML or an error.
func TestAnyValueConvertsOrFails(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	hostile := []any{nil, "${", `{"a":[null]}`, "\x00\n\u2028: #", []any{nil, []any{}}, map[string]any{"": nil}}
	for _, tc := range openSearchCases[5:] {
		names := append([]string{tc.agent}, tc.connectors...)
		for i, name := range names {
			t.Run(fmt.Sprintf("%s/%s", tc.name, name), func(t *testing.T) {
				inputs := make([]convert.Input, len(names))
				for j, other := range names {
					inputs[j] = source(t, other)
				}
				tree := parsed(t, inputs[i].Text)
				n := count(tree)
				for at := range n {
					for _, value := range hostile {
						b, err := json.Marshal(replaced(tree, new(int), at, value))
						if err != nil {
							t.Fatal(err)
						}
						inputs[i].Text = b
						made, err := opensearch.Convert(inputs[0], inputs[1:]...)
						if err != nil {
							continue
						}
						var v any
						if err := yaml.Unmarshal(made.Files[0].Text, &v); err != nil {
							t.Fatalf("%s\nis no YAML: %v\n%s", b, err, made.Files[0].Text)
						}
					}
				}
			})
		}
	}
}

func count(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, sub := range v {
			n += count(sub)
		}
	case []any:
		for _, sub := range v {
			n += count(sub)
		}
	}
	return n
}

// replaced returns a copy of a tree in which value replaces the at-th value.
func replaced(v any, seen *int, at int, value any) any {
	*seen++
	if *seen-1 == at {
		return value
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			out[key] = replaced(v[key], seen, at, value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, sub := range v {
			out[i] = replaced(sub, seen, at, value)
		}
		return out
	}
	return v
}
