package dsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
)

const withParameters = head + `
parameters:
  count: {type: integer, minimum: 1, default: 3}
  mode: {enum: [fast, slow]}
  token: {type: string, required: true, description: The customer's code.}
  tags: {type: array, items: {type: string}}
  user: {type: object}
`

// manyUnknown has 25 unknown parameters.
var manyUnknown = func() string {
	var names []string
	for i := range 25 {
		names = append(names, fmt.Sprintf(`"x%02d": 1`, i))
	}
	return "{" + strings.Join(names, ", ") + "}"
}()

func TestInputs(t *testing.T) {
	p := compiled(t, withParameters)
	cases := []struct {
		name, question string
		flags          []string
		file           string
		want           map[string]any
		wrong          []string // parts of the error
	}{
		{name: "defaults are applied", question: "q", flags: []string{"token=x"}, want: map[string]any{"question": "q", "token": "x", "count": 3.0}},
		{
			name: "strings stay as they are, others are YAML", question: "q",
			flags: []string{"token=007: #x", "count=5", "tags=[a, no]", "user={id: 7}"},
			want:  map[string]any{"question": "q", "token": "007: #x", "count": 5.0, "tags": []any{"a", "no"}, "user": map[string]any{"id": 7.0}},
		},
		{
			name: "a flag beats the file, which beats the default", flags: []string{"count=5"},
			file: `{"question": "from file", "token": "f", "count": 4}`,
			want: map[string]any{"question": "from file", "token": "f", "count": 5.0},
		},
		{name: "the question may be a flag", flags: []string{"question=a: b", "token=x"}, want: map[string]any{"question": "a: b", "token": "x", "count": 3.0}},
		{name: "what is missing is named", wrong: []string{`missing required parameter "question"`, "pexctl run spec.yaml", `missing required parameter "token": The customer's code`, "-p token="}},
		{name: "an unknown name gets a suggestion", question: "q", flags: []string{"tokn=x", "token=y"}, wrong: []string{"tokn", "did you mean token?"}},
		{name: "a few unknown names are reported", question: "q", flags: []string{"token=y"}, file: manyUnknown, wrong: []string{`"x00"`, `"x19"`, "\n5 more unknown parameters"}},
		{name: "values are checked", question: "q", flags: []string{"token=x", "count=0", "mode=medium"}, wrong: []string{`parameter "count"`, `parameter "mode"`, "fast"}},
		{name: "types are checked", question: "q", flags: []string{"token=x", "count=many"}, wrong: []string{`parameter "count"`, "integer"}},
		{name: "a flag needs a value", question: "q", flags: []string{"token"}, wrong: []string{"NAME=VALUE"}},
		{name: "not YAML", question: "q", flags: []string{"token=x", "tags=[a"}, wrong: []string{`parameter "tags"`, "not valid YAML"}},
		{name: "an integer that would be rounded", question: "q", flags: []string{"token=x", "user={id: 18446744073709551616}"}, wrong: []string{`parameter "user"`, "18446744073709551616 does not fit in 64 bits", "quote it"}},
		{name: "so in the file", question: "q", file: `{"token": "x", "count": 9223372036854775808}`, wrong: []string{`parameter "count"`, "9223372036854775808"}},
		{name: "the largest is held", question: "q", flags: []string{"token=x", "count=9223372036854775807"}, want: map[string]any{"question": "q", "token": "x", "count": 9223372036854775807}},
		{name: "the file is an object", question: "q", file: `[1]`, wrong: []string{"one JSON object"}},
		{name: "the file is JSON", question: "q", file: `{"token": `, wrong: []string{"one JSON object"}},
		{name: "null counts as missing", question: "q", file: `{"token": null, "mode": null}`, wrong: []string{`missing required parameter "token"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := dsl.Inputs(p, c.question, c.flags, []byte(c.file))
			if len(c.wrong) > 0 {
				if err == nil {
					t.Fatalf("it is taken: %v", got)
				}
				for _, part := range c.wrong {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("the error lacks %q: %v", part, err)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestQuestionMayBeDeclared(t *testing.T) {
	p := compiled(t, head+"parameters:\n  question: {type: string, default: 'what now?'}\n")
	got, err := dsl.Inputs(p, "", nil, nil)
	if err != nil || got["question"] != "what now?" || len(p.Parameters) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
