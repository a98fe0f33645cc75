package reply_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/node/reply"
)

// kinds matches values that start with one of the given characters.
func startsWith(first string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool { return strings.IndexByte(first, raw[0]) >= 0 }
}

func TestFitReturnsTheOnlyMatch(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": [2]}`:                                 `{"a": 1, "b": [2]}`,
		`{'a': 'it's', 'b': True, 'c': None,}`:               `{"a":"it's","b":true,"c":null}`,
		`{city: New York, zip: 10-20}`:                       `{"city":"New York","zip":"10-20"}`,
		`{url: https://a.b/c, "n": 1}`:                       `{"url":"https://a.b/c","n":1}`,
		`{"a": "say "hi" now", "b": "c"}`:                    `{"a":"say \"hi\" now","b":"c"}`,
		`{"a": "x, "b": 1}`:                                  `{"a":"x","b":1}`,
		`{a": "x", "b": 1}`:                                  `{"a":"x","b":1}`,
		`{"a": x", "b": 1}`:                                  `{"a":"x","b":1}`,
		`{"a" "b"}`:                                          `{"a":"b"}`,
		`{"a": 1 "b": 2}`:                                    `{"a":1,"b":2}`,
		"{\"a\": 1\n\"b\": 2}":                               `{"a":1,"b":2}`,
		`{"a": [1, 2}`:                                       `{"a":[1,2]}`,
		`{"a": [{"b": 1], "c": 2}`:                           `{"a":[{"b":1}],"c":2}`,
		`{"a": {"b": "c"`:                                    `{"a":{"b":"c"}}`,
		`{"a": 1}}]`:                                         `{"a": 1}`,
		"Here it is:\n```json\n{\"a\": 1}\n```\nDone.":       `{"a": 1}`,
		`<think>{"a": 0}</think>{"a": 1}`:                    `{"a": 1}`,
		`<tool_call>{"a": 1}</tool_call>`:                    `{"a": 1}`,
		`callback({"a": 1});`:                                `{"a": 1}`,
		`"{\"a\": 1}"`:                                       `{"a": 1}`,
		`{\"a\": 1}`:                                         `{"a": 1}`,
		`{"a": 1 /* one */, "b": 2} // end`:                  `{"a":1,"b":2}`,
		`As [1] says: {"a": 1}`:                              `{"a": 1}`,
		"{\"a\": 1}\n\nAgain: {\"a\": 1}":                    `{"a": 1}`,
		`{'path': 'caf\xe9', 'quote': "it's"}`:               `{"path":"café","quote":"it's"}`,
		"{“a”: “b”}":                                         `{"a":"b"}`,
		`{"re": "\d+", "path": "C:\Users", "ok": "\n"}`:      `{"re":"\\d+","path":"C:\\Users","ok":"\n"}`,
		`{"n": .5, "m": +1, "o": 5., "id": 007, "v": 1.2.3}`: `{"n":0.5,"m":1,"o":5.0,"id":"007","v":"1.2.3"}`,
	} {
		got := reply.Fit(text, reply.Options{}, startsWith("{"))
		if string(got.Value) != want {
			t.Errorf("%s: got %s (%s), want %s", text, got.Value, got.Code, want)
		}
		if valid := json.Valid([]byte(text)) && text[0] == '{'; valid == (len(got.Repairs) > 0) {
			if text[0] == '{' && string(got.Value) == text {
				t.Errorf("%s: repairs %q", text, got.Repairs)
			}
		}
	}
}

func TestFitRejectsAmbiguousText(t *testing.T) {
	for _, text := range []string{
		`{"a": 1} or {"a": 2}`,
		`{"a": 1}{"a": 2}`,
		`{"a": 1, ...}`, `{"a": [1, 2, ...]}`, `{"a": ...}`,
		`{"a": 1e}`, `{"a": -}`, `{"a": NaN}`, `{"a": Infinity}`, `{"a": tru}`, `{"a": }`,
		`{"a": "b", "c"}`, `{'a': 'b', 'c'}`, `{"a": "b" "c"}`, `{"a": "b" + "c"}`,
		`{"a": Paris, France}`, `{"a": 1,234}`, `{"a": f(x, y)}`, `{"a": ObjectId("1")}`,
		`{"a": 1, "a": 2,}`,
		`{"a": "b"}, "c": 1}`, `{"a": "b"}, "c" "d"}`, `"a": {"b": 1}}`, `{"a": {"b": 1}}, [2]`,
		`{"a": "{"b": 1}"}`, `{"a": ""b"}`, `{"a": 'b"}`,
		`{"a": "one, two, "b": 1}`,
		`{"a": "b`, `{"a": 12`, `{"a": "b",`, `{"a"`, `{"a": [1,`, `{"a": bar`,
		`{"a": "b" // c}`,
		`[1, 2]`, `the set {a, b}`, `nothing`, ``, `"text"`, `{"a": [1,,2]}`,
	} {
		if got := reply.Fit(text, reply.Options{}, startsWith("{")); got.Code == "" {
			t.Errorf("%s: got %s (%q), want no value", text, got.Value, got.Repairs)
		}
	}
}

func TestFitReturnsAListOnlyIfTheTextIsOne(t *testing.T) {
	for text, want := range map[string]string{
		`["a" "b" "c"]`:            `["a","b","c"]`,
		`["a" 2]`:                  `["a",2]`,
		`[a, b c]`:                 `["a","b c"]`,
		"[\n1\n2\n]":               `[1,2]`,
		`{"a": 1}, {"b": 2}`:       `[{"a": 1},{"b": 2}]`,
		"{\"a\": 1}\n{\"b\": 2}\n": `[{"a": 1},{"b": 2}]`,
		`[{"a": 1}{"a": 2}]`:       `[{"a":1},{"a":2}]`,
		`[{"a": 1, {"a": 2}]`:      `[{"a":1},{"a":2}]`,
		`[1, 2}`:                   `[1,2]`,
		`["say "hi" now", "b"]`:    `["say \"hi\" now","b"]`,
		`I cannot [at the moment]`: ``,
		`["a, "b"]`:                ``,
		`[1 2 3]`:                  ``,
		`["a": 1]`:                 ``,
		`[1] and [2]`:              ``,
		`[][1]`:                    ``,
		`["abc]`:                   ``,
		`["a" + "b"]`:              ``,
	} {
		if got := reply.Fit(text, reply.Options{}, startsWith("[")); string(got.Value) != want {
			t.Errorf("%s: got %s (%s), want %s", text, got.Value, got.Code, want)
		}
	}
}

func TestFitUnwrapsACallOnlyIfRequested(t *testing.T) {
	fits := func(raw json.RawMessage) bool {
		var v struct{ Q *int }
		return json.Unmarshal(raw, &v) == nil && v.Q != nil
	}
	foreign := func(name string) bool { return name == "other" }
	for text, want := range map[string]string{
		`{"arguments": {"q": 1}}`:                     `{"q": 1}`,
		`{"name": "mine", "arguments": {"q": 1}}`:     `{"q": 1}`,
		`{"name": "other", "arguments": {"q": 1}}`:    ``,
		`{"name": "mine", "parameters": "{\"q\":1}"}`: `{"q":1}`,
		`[{"q": 1}]`:                                 `{"q": 1}`,
		`[{"q": 1}, {"q": 2}]`:                       ``,
		`{"arguments": {"q": 1}, "limit": 5}`:        ``,
		`{"arguments": {"q": 1}, "input": {"q": 2}}`: ``,
	} {
		got := reply.Fit(text, reply.Options{Wrapped: true, OtherTool: foreign}, fits)
		if string(got.Value) != want {
			t.Errorf("%s: got %s (%s), want %s", text, got.Value, got.Code, want)
		}
		if plain := reply.Fit(text, reply.Options{}, fits); plain.Code == "" {
			t.Errorf("%s: unwrapped without Options.Wrapped", text)
		}
	}
}

func TestFitNeverCompletesATruncatedReply(t *testing.T) {
	if got := reply.Fit(`{"a": "b"`, reply.Options{Truncated: true}, startsWith("{")); got.Code != reply.Truncated {
		t.Errorf("got %s, code %q", got.Value, got.Code)
	}
}

func TestFitReportsEachRepair(t *testing.T) {
	got := reply.Fit("Sure: {a: 'b'\nc: [1, 2,]", reply.Options{}, startsWith("{"))
	for _, want := range []string{"bare key quoted", "stray comma dropped", "missing brackets added at the end", "text around the JSON dropped"} {
		if !slices.Contains(got.Repairs, want) {
			t.Errorf("%q lacks %q (value %s)", got.Repairs, want, got.Value)
		}
	}
}

// The search for readings is bounded, even for highly ambiguous text.
func TestFitBoundsItsWork(t *testing.T) {
	for _, unit := range []string{`"a "b", `, `{"a" "b" `, `{"a": x, `, "[", `{"a":`, `["a" 1 `, `'`, `"`, `}{`, `{"x`, "[1}", `"a"b,`} {
		text := "[" + strings.Repeat(unit, 20000/len(unit))
		asked := 0
		reply.Fit(text, reply.Options{Wrapped: true}, func(json.RawMessage) bool { asked++; return false })
		if asked > 300 {
			t.Errorf("%q: %d readings tried", unit, asked)
		}
	}
}

func FuzzFit(f *testing.F) {
	for _, w := range completeReplies {
		f.Add(w)
	}
	for _, s := range []string{`{"a": "x "y" z", b: c}`, `["a" "b"]`, `{"a": [1, {"b": 2}`, `[{"a":1,{"a":2}]`, `{"name":"x","arguments":"{}"}`, `{'a': 'b\x41'}`} {
		f.Add(s)
	}
	any := func(json.RawMessage) bool { return true }
	f.Fuzz(func(t *testing.T, text string) {
		got := reply.Fit(text, reply.Options{Wrapped: true}, any)
		if got.Code != "" {
			return
		}
		if !json.Valid(got.Value) {
			t.Fatalf("invalid JSON %q", got.Value)
		}
		if trimmed := strings.TrimSpace(text); json.Valid([]byte(trimmed)) && utf8.ValidString(trimmed) && (string(got.Value) != trimmed || len(got.Repairs) > 0) {
			t.Fatalf("altered %q to %q", trimmed, got.Value)
		}
		again := reply.Fit(string(got.Value), reply.Options{Wrapped: true}, any)
		if string(again.Value) != string(got.Value) || len(again.Repairs) > 0 {
			t.Fatalf("%q read again: %q (%q)", got.Value, again.Value, again.Repairs)
		}
	})
}
