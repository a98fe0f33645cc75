package reply_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/node/reply"
)

func args(pairs ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return out
}

func TestStepObjectsKeepTheirFields(t *testing.T) {
	for _, c := range []struct {
		name, step string
		want       reply.Step
		repaired   bool
	}{
		{
			name: "all fields", step: `{"id":"s1","goal":"g","tools":["x","y"],"success":"ok","context":"c","args":{"q": [1, 2]},"depends_on":["s0"]}`,
			want: reply.Step{ID: "s1", Goal: "g", Tools: []string{"x", "y"}, Success: "ok", Context: "c", Args: args("q", "[1, 2]"), DependsOn: []string{"s0"}},
		},
		{
			name: "the other names of the design", step: `{"goal":"g","primary_tools":["x"],"success_criteria":"ok"}`,
			want: reply.Step{Goal: "g", Tools: []string{"x"}, Success: "ok"},
		},
		{
			name: "primary tools come first", step: `{"goal":"g","tools":["a","x"],"primary_tools":["x"]}`,
			want: reply.Step{Goal: "g", Tools: []string{"x", "a"}},
		},
		{
			name: "aliases", step: `{"task":"g","tool":"x","expected_output":"ok","instructions":"c","arguments":{"q":1},"needs":"s1, s2"}`,
			want: reply.Step{Goal: "g", Tools: []string{"x"}, Success: "ok", Context: "c", Args: args("q", "1"), DependsOn: []string{"s1", "s2"}}, repaired: true,
		},
		{
			name: "camel case", step: `{"goal":"g","dependsOn":["s1"],"successCriteria":"ok"}`,
			want: reply.Step{Goal: "g", Success: "ok", DependsOn: []string{"s1"}}, repaired: true,
		},
		{
			name: "number as id", step: `{"id":3,"goal":"g","depends_on":[1,2]}`,
			want: reply.Step{ID: "3", Goal: "g", DependsOn: []string{"1", "2"}},
		},
		{
			name: "description beats title", step: `{"title":"short","description":"long"}`,
			want: reply.Step{Goal: "long"}, repaired: true,
		},
		{
			name: "goal beats all", step: `{"description":"other","goal":"g"}`,
			want: reply.Step{Goal: "g"}, repaired: true,
		},
		{
			name: "tool as an object", step: `{"goal":"g","tool":{"name":"x","arguments":{"q":1}}}`,
			want: reply.Step{Goal: "g", Tools: []string{"x"}, Args: args("q", "1")}, repaired: true,
		},
		{
			name: "tools as objects", step: `{"goal":"g","tools":[{"name":"x"},{"name":"y"}]}`,
			want: reply.Step{Goal: "g", Tools: []string{"x", "y"}}, repaired: true,
		},
		{
			name: "call without a goal", step: `{"tool":"x","args":{"q":"v"}}`,
			want: reply.Step{Goal: `Call x with {"q":"v"}`, Tools: []string{"x"}, Args: args("q", `"v"`)}, repaired: true,
		},
		{
			name: "name and arguments", step: `{"name":"x","arguments":{}}`,
			want: reply.Step{Goal: "Call x", Tools: []string{"x"}}, repaired: true,
		},
		{
			name: "arguments as text", step: `{"goal":"g","args":"{\"q\":1}"}`,
			want: reply.Step{Goal: "g", Args: args("q", "1")}, repaired: true,
		},
		{
			name: "arguments mended", step: `{"goal":"g","args":{'q':['a',]}}`,
			want: reply.Step{Goal: "g", Args: args("q", `["a"]`)}, repaired: true,
		},
		{
			name: "reference in arguments", step: `{"goal":"g","args":{"id":"${steps.s1.output.hits[0].id}"}}`,
			want: reply.Step{Goal: "g", Args: args("id", `"${steps.s1.output.hits[0].id}"`)},
		},
		{
			name: "lists of prose", step: `{"goal":"g","success":["one","two"],"context":["c",null]}`,
			want: reply.Step{Goal: "g", Success: "one\ntwo", Context: "c"},
		},
		{
			name: "context as an object", step: `{"goal":"g","context":{"k": 1}}`,
			want: reply.Step{Goal: "g", Context: `{"k": 1}`},
		},
		{
			name: "nothing in words", step: `{"goal":"g","tools":["none"],"depends_on":"None","args":null,"context":null}`,
			want: reply.Step{Goal: "g"}, repaired: true,
		},
		{
			name: "unknown keys left out", step: `{"goal":"g","priority":1,"owner":{"x":1}}`,
			want: reply.Step{Goal: "g"},
		},
		{
			name: "only instructions", step: `{"instructions":"do it"}`,
			want: reply.Step{Goal: "do it"}, repaired: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reply.Parse(`{"steps":[`+c.step+`],"result":""}`, reply.Options{})
			if diff := cmp.Diff([]reply.Step{c.want}, got.Steps); diff != "" {
				t.Errorf("(-want +got):\n%s\n%+v", diff, got)
			}
			if got.Repaired != c.repaired {
				t.Errorf("repaired %v: %q", got.Repaired, got.Repairs)
			}
		})
	}
}

func TestNumbersBecomeIDsOnlyIfReferenced(t *testing.T) {
	ids := func(text string) []string {
		var out []string
		for _, s := range reply.Parse(text, reply.Options{}).Steps {
			out = append(out, s.ID)
		}
		return out
	}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no references", `{"steps":[{"step":1,"goal":"a"},{"step":2,"goal":"b"}]}`, []string{"", ""}},
		{"own numbers", `{"steps":[{"step":4,"goal":"a"},{"step":5,"goal":"b","depends_on":[4]}]}`, []string{"4", "5"}},
		{"places", `{"steps":[{"goal":"a"},{"goal":"b","depends_on":[1]}]}`, []string{"1", "2"}},
		{"keys", `{"steps":{"2":{"goal":"b","depends_on":[1]},"1":{"goal":"a"}}}`, []string{"1", "2"}},
		{"names are not numbers", `{"steps":[{"goal":"a"},{"goal":"b","depends_on":["s1"]}]}`, []string{"", ""}},
		{"ids stay", `{"steps":[{"id":"x","goal":"a"},{"goal":"b","depends_on":[1]}]}`, []string{"x", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ids(c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
