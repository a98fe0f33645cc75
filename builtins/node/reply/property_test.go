package reply_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/node/reply"
)

// completeReplies holds complete replies in every notation.
var completeReplies = []string{
	`{"steps":["list the indices","count \"docs\" \u00e9"],"result":""}`,
	`{"steps":[{"id":"s1","goal":"a","tools":["x"],"args":{"n":-1.5e3,"deep":[{"k":null}]},"depends_on":[]},{"goal":"b"}],"result":""}`,
	`{"steps":[],"result":{"answer":[1,2,{"x":true}]}}`,
	`{'steps': ['don't', "b",], 'result': None} `,
	"{steps: [\"a\" // first\n, \"b\"], /* end */ result: ''}",
	"{“steps”: [“a”], “result”: “”}",
	`{"steps":["search "foo" now"],"result":""}`,
	`["a","b"]`,
	`[{"goal":"a"},{"goal":"b"}]`,
	"{\"steps\": [\n  {\"goal\": \"a\"},\n  {\"goal\": \"b\", \"result\": \"x\"}\n],\n\"result\": \"\"}",
	`{"plan":{"steps":["a"],"result":""}}`,
	`{\"steps\":[\"a\"],\"result\":\"\"}`,
}

func TestTruncatedReplyIsNeverAccepted(t *testing.T) {
	around := []struct{ before, after string }{
		{"", ""},
		{"Here is [1] the plan:\n```json\n", "\n```\nDone."},
		{"<think>{\"steps\":[\"draft\"],\"result\":\"\"} {x</think>\n", ""},
	}
	for _, w := range completeReplies {
		w = strings.TrimSpace(w)
		for _, a := range around {
			for n := range len(w) {
				text := a.before + w[:n]
				got := reply.Parse(text, reply.Options{})
				if got.Kind != reply.Error {
					t.Fatalf("taken: %q\n%+v", text, got)
				}
				if got.Code != reply.Truncated && n > 0 && a.before == "" && !strings.Contains(w, `\"steps`) {
					t.Errorf("%q: %s, want truncated", text, got.Code)
				}
			}
			if got := reply.Parse(a.before+w+a.after, reply.Options{}); got.Kind == reply.Error {
				if !strings.HasPrefix(a.before, "Here") || !strings.Contains(w, `\"steps`) {
					t.Errorf("not accepted: %q: %s", a.before+w+a.after, got.Message)
				}
			}
		}
	}
}

func TestTruncatedReasoningIsNeverAccepted(t *testing.T) {
	text := `<think>say {"steps":["draft"],"result":""} or {"result":"x"}</think>{"steps":["a"],"result":""}`
	for n := range len(text) {
		if got := reply.Parse(text[:n], reply.Options{}); got.Kind != reply.Error {
			t.Fatalf("taken: %q\n%+v", text[:n], got)
		}
	}
}

func TestValidJSONIsUnchanged(t *testing.T) {
	for _, text := range []string{
		`{"a": [1, 2.50, -0, 1E+2], "b" : "x\u0041\/", "c":null}`, `[ "x" ]`, `"text"`, `-0.0`, `true`, `null`, ` {"a":1} `,
		`{"a":"he said: \"x\", y"}`, `{"":""}`, `{"a":"//","b":"#","c":"/*"}`, `{"a":"“q”"}`, `{"k":"line\nbreak"}`,
	} {
		got, repaired, code := reply.JSON(text, reply.Options{})
		if string(got) != strings.TrimSpace(text) || repaired || code != "" {
			t.Errorf("%s: got %s, repaired %v, code %q", text, got, repaired, code)
		}
	}
}

// The limit is far above the time parsing takes (at most a quarter of a second) and far
// below what quadratic time would take.
func TestParsingHostileTextIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	const size, bound = 1 << 20, 20 * time.Second
	for name, unit := range map[string]string{
		"braces": "{", "brackets": "[", "keys": `{"a":`, "quotes": `"`, "open strings": `{"a":"`, "comments": "{/*", "hashes": "{#\n",
		"closed comments": "{/**/x", "tags": "<think>", "closing tags": "</think", "fences": "```", "commas": "[,", "escapes": `{\"`,
		"broken members": `{"a":1 x`, "inner quotes": `["a "b`, "spaces": `{"a" " `, "bare": "{a",
	} {
		text := strings.Repeat(unit, size/len(unit)-8)
		for _, text := range []string{text, text + " */ x }"} {
			start := time.Now()
			reply.Parse(text, reply.Options{})
			if took := time.Since(start); took > bound {
				t.Errorf("%s: %v", name, took)
			}
		}
	}
}

func FuzzPlanReply(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Input)
	}
	for _, w := range completeReplies {
		f.Add(w)
	}
	f.Add("Thought: t\nAction: x\nAction Input: {\"q\":1}\nObservation: y")
	f.Add(`<think>{</think>{"steps":["a"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := reply.Parse(text, reply.Options{})
		if diff := cmp.Diff(got, reply.Parse(text, reply.Options{})); diff != "" {
			t.Fatalf("two readings differ:\n%s", diff)
		}
		switch got.Kind {
		case reply.Plan:
			if len(got.Steps) == 0 || got.Code != "" {
				t.Fatalf("plan without steps: %+v", got)
			}
			again := reply.Parse(encode(t, got.Steps), reply.Options{})
			if diff := cmp.Diff(compact(t, got.Steps), compact(t, again.Steps)); diff != "" || again.Repaired {
				t.Fatalf("encoded and read again (repairs %q):\n%s", again.Repairs, diff)
			}
		case reply.Final:
			if got.ResultValue != nil && !json.Valid(got.ResultValue) {
				t.Fatalf("invalid result %s", got.ResultValue)
			}
		case reply.Error:
			if got.Code == "" || got.Message == "" {
				t.Fatalf("error without words: %+v", got)
			}
		}
		fuzzJSON(t, text)
		if a := reply.React(text, reply.Options{}); a.Code == "" && !a.Final && (a.Tool == "" || !json.Valid(a.Input)) {
			t.Fatalf("no usable call: %+v", a)
		}
	})
}

func fuzzJSON(t *testing.T, text string) {
	raw, repaired, code := reply.JSON(text, reply.Options{})
	if code != "" {
		return
	}
	if !json.Valid(raw) {
		t.Fatalf("invalid JSON %q", raw)
	}
	again, twice, code := reply.JSON(string(raw), reply.Options{})
	inString := len(raw) > 0 && raw[0] == '"'
	if !inString && (string(again) != string(raw) || twice || code != "") {
		t.Fatalf("%q read again: %q, repaired %v, code %q", raw, again, twice, code)
	}
	if trimmed := strings.TrimSpace(text); json.Valid([]byte(trimmed)) && !inString && !repaired && string(raw) != trimmed {
		t.Fatalf("altered %q to %q", trimmed, raw)
	}
}

func encode(t *testing.T, steps []reply.Step) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"steps": steps, "result": ""}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compact(t *testing.T, steps []reply.Step) []reply.Step {
	t.Helper()
	var out []reply.Step
	if err := json.Unmarshal([]byte(encode(t, steps)), &struct{ Steps *[]reply.Step }{&out}); err != nil {
		t.Fatal(err)
	}
	return out
}

func BenchmarkParsePlainPlan(b *testing.B) {
	text := `{"steps": [{"id": "s1", "goal": "List the indices", "tools": ["list_index"]}, {"id": "s2", "goal": "Count the documents in flights", "tools": ["search"], "depends_on": ["s1"]}], "result": ""}`
	b.ReportAllocs()
	for b.Loop() {
		if r := reply.Parse(text, reply.Options{}); r.Kind != reply.Plan || r.Repaired {
			b.Fatal(r)
		}
	}
}

func BenchmarkParsePlainList(b *testing.B) {
	text := `{"steps": ["List the indices", "Count the documents in flights"], "result": ""}`
	b.ReportAllocs()
	for b.Loop() {
		if r := reply.Parse(text, reply.Options{}); r.Kind != reply.Plan || r.Repaired {
			b.Fatal(r)
		}
	}
}

func BenchmarkParseMended(b *testing.B) {
	text := "Here it is:\n```json\n{'steps': ['List the indices', 'Count the documents in flights',], 'result': None}\n```"
	b.ReportAllocs()
	for b.Loop() {
		if r := reply.Parse(text, reply.Options{}); r.Kind != reply.Plan {
			b.Fatal(r)
		}
	}
}
