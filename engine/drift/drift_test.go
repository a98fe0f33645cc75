package drift_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
)

// message returns a message of a request; text is its segments.
func message(head string, text ...string) journal.Message {
	return journal.Message{Head: json.RawMessage(head), Text: text}
}

const (
	system = `{"role":"system"}`
	user   = `{"role":"user"}`
)

// request returns a model request; fields are pairs of name and JSON.
func request(messages []journal.Message, fields ...string) journal.Request {
	q := journal.Request{Messages: messages}
	for i := 0; i < len(fields); i += 2 {
		q.Fields = append(q.Fields, journal.Field{Name: fields[i], JSON: json.RawMessage(fields[i+1])})
	}
	return q
}

func TestCompareReportsDifferences(t *testing.T) {
	ask := []journal.Message{message(system, "Be brief."), message(user, "Add ", "1 and 2")}
	search, fetch := `{"name":"search","description":"finds","input":{"type":"object"}}`, `{"name":"fetch"}`
	for _, tt := range []struct {
		name          string
		recorded, now journal.Request
		want          []drift.Difference
	}{
		{"nothing", request(ask, "role", `"planner"`), request(ask, "role", `"planner"`), nil},
		{
			"nothing but segments and the number of the call",
			request(ask, "call", "1"), request([]journal.Message{message(system, "Be ", "brief."), message(user, "Add 1 ", "", "and 2")}, "call", "2"), nil,
		},
		{
			"nothing but the order of members",
			request(nil, "params", `{"a":1,"b":2}`, "tools", `[{"name":"t","input":{"x":1,"y":2}}]`),
			request(nil, "params", `{"b":2,"a":1}`, "tools", `[{"input":{"y":2, "x":1},"name":"t"}]`), nil,
		},
		{
			"a message", request(ask), request([]journal.Message{ask[0], message(user, "Add 1 and 3\n")}),
			[]drift.Difference{{drift.Prompt, "messages", "[system]\nBe brief.\n\n[user]\nAdd 1 and 2\n", "[system]\nBe brief.\n\n[user]\nAdd 1 and 3\n"}},
		},
		{
			"a tool call in a message",
			request([]journal.Message{message(`{"role":"assistant","calls":[{"name":"t","args":{"a":1}}]}`)}),
			request([]journal.Message{message(`{"role":"assistant","calls":[{"name":"t","args":{"a":2}}]}`)}),
			[]drift.Difference{{drift.Prompt, "messages", "[assistant]\ncall: {\"args\":{\"a\":1},\"name\":\"t\"}\n", "[assistant]\ncall: {\"args\":{\"a\":2},\"name\":\"t\"}\n"}},
		},
		{
			"what only a provider can read",
			request([]journal.Message{message(`{"role":"assistant","calls":[{"name":"t","opaque":{"signature":"AAAA"}}]}`)}),
			request([]journal.Message{message(`{"role":"assistant","calls":[{"name":"t","opaque":{"signature":"BBBB"}}]}`)}),
			[]drift.Difference{{drift.Prompt, "messages", "[assistant]\ncall: {\"name\":\"t\",\"opaque\":\"20 bytes, 3776e58a\"}\n", "[assistant]\ncall: {\"name\":\"t\",\"opaque\":\"20 bytes, eb883451\"}\n"}},
		},
		{
			"role and step", request(nil, "role", `"executor"`, "step", `"add"`), request(nil, "role", `"planner"`),
			[]drift.Difference{{drift.Prompt, "role", "executor\n", "planner\n"}, {drift.Prompt, "step", "add\n", ""}},
		},
		{
			"parameters", request(nil, "params", `{"model":"a","temperature":0}`), request(nil, "params", `{"model":"a","temperature":0.7}`, "parallel_tools", "true"),
			[]drift.Difference{{drift.Parameters, "parameters", "model: \"a\"\ntemperature: 0\n", "model: \"a\"\ntemperature: 0.7\nparallel_tools: true\n"}},
		},
		{
			"the schema of the reply", request(nil), request(nil, "schema", `{"name":"plan"}`),
			[]drift.Difference{{drift.Parameters, "schema of the reply", "", "{\n  \"name\": \"plan\"\n}\n"}},
		},
		{
			"tools that come and go", request(nil, "tools", "["+search+"]"), request(nil, "tools", "["+fetch+"]"),
			[]drift.Difference{
				{drift.Tools, "tool search", "search\nfinds\n{\n  \"type\": \"object\"\n}\n", ""},
				{drift.Tools, "tool fetch", "", "fetch\n\n"},
			},
		},
		{
			"the order of tools", request(nil, "tools", "["+search+","+fetch+"]"), request(nil, "tools", "["+fetch+","+search+"]"),
			[]drift.Difference{{drift.Tools, "order of tools", "search\nfetch\n", "fetch\nsearch\n"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, drift.Compare(tt.recorded, tt.now)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCompareCall(t *testing.T) {
	for _, tt := range []struct {
		name, recorded, now string
		want                []drift.Difference
	}{
		{"the same", `{"tool":"t","args":{"a":1,"b":9007199254740993}}`, `{"tool":"t","args":{"b":9007199254740993,"a":1}}`, nil},
		{
			"arguments", `{"tool":"t","args":{"a":9007199254740993}}`, `{"tool":"t","args":{"a":9007199254740992}}`,
			[]drift.Difference{{drift.Arguments, "arguments", "{\n  \"a\": 9007199254740993\n}\n", "{\n  \"a\": 9007199254740992\n}\n"}},
		},
		{"the tool", `{"tool":"t","args":{}}`, `{"tool":"u","args":{}}`, []drift.Difference{{drift.Tools, "tool", "t\n", "u\n"}}},
		{"no JSON", `x`, "y\n", []drift.Difference{{drift.Arguments, "arguments", "x\n", "y\n"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, drift.CompareCall([]byte(tt.recorded), []byte(tt.now))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	said := func(role, step, text string) journal.Request {
		return request([]journal.Message{message(user, text)}, "role", `"`+role+`"`, "step", `"`+step+`"`)
	}
	poem := "roses are red\nviolets are blue\nsugar is sweet\n"
	recorded := []journal.Request{
		said("planner", "", poem), said("executor", "s1", "nothing alike"), said("executor", "s2", "one\ntwo\nthree\n"), said("executor", "s2", poem),
	}
	for _, tt := range []struct {
		name string
		now  journal.Request
		want int
	}{
		{"the same role before the same text", said("executor", "s1", poem), 1},
		{"the same step before the same text", said("executor", "s1", "one\ntwo\nthree\n"), 1},
		{"then the text", said("executor", "s2", "roses are red\nviolets are green\n"), 3},
		{"of equals the first", said("executor", "s2", "else"), 2},
		{"another role at all", said("judge", "", poem), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := drift.Nearest(recorded, tt.now); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
	if got := drift.Nearest(nil, recorded[0]); got != -1 {
		t.Errorf("of none: %d", got)
	}
}

func TestRequestsOfARecording(t *testing.T) {
	var segments journal.Segments
	record := func(seq uint64, text string) journal.Record {
		body, err := segments.Encode(request([]journal.Message{message(user, "the ", text)}, "role", `"planner"`))
		if err != nil {
			t.Fatal(err)
		}
		return journal.Record{Seq: seq, Kind: journal.Intent, Class: journal.Read, Path: fmt.Sprintf("p.%d/model", seq), Body: body}
	}
	recs := []journal.Record{
		{Seq: 1, Kind: journal.Start, Body: []byte(`{"messages":[]}`)},
		record(2, "first"),
		{Seq: 3, Kind: journal.Intent, Class: journal.Read, Path: "tool", Body: []byte(`{"tool":"t","args":{}}`)},
		{Seq: 4, Kind: journal.Result, Path: "tool", Body: []byte(`{"messages":[1]}`)},
		record(5, "second"),
	}
	got, err := drift.Requests(recs)
	if err != nil || len(got) != 2 || got[1].Path != "p.5/model" || got[1].Seq != 5 || strings.Join(got[1].Request.Messages[0].Text, "") != "the second" {
		t.Fatal(err, got)
	}
	recs = append(recs[:4:4], journal.Record{Seq: 5, Kind: journal.Change, Voids: 2}) // only the start is not voided
	if got, err := drift.Requests(recs); err != nil || len(got) != 0 {
		t.Error(err, got)
	}
	segments = journal.Segments{}
	recs = append(recs, record(6, "again"), record(7, "first"))
	if got, err := drift.Requests(recs); err != nil || len(got) != 2 {
		t.Error("voided requests are returned:", err, got)
	}
	recs[5].Body = []byte(`{"messages":[7]}`)
	if _, err := drift.Requests(recs); err == nil || !strings.Contains(err.Error(), "record 6 (p.6/model)") {
		t.Error(err)
	}
}

// Many long requests.
func BenchmarkNearest(b *testing.B) {
	long := strings.Repeat("a line that is as long as lines are, and then a word more\n", 20_000)
	recorded := make([]journal.Request, 2000)
	for i := range recorded {
		recorded[i] = request([]journal.Message{message(user, fmt.Sprint(i, "\n"), long)})
	}
	for b.Loop() {
		drift.Nearest(recorded, recorded[1000])
	}
}
