package runview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runview"
)

func TestCallsOfARun(t *testing.T) {
	var s journal.Segments
	body, err := s.Encode(journal.Request{
		Messages: []journal.Message{{Head: []byte(`{"role":"user"}`), Text: []string{"a", "b"}}},
		Fields:   []journal.Field{{Name: "role", JSON: []byte(`"planner"`)}, {Name: "params", JSON: []byte(`{"model":"m"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	recs := []journal.Record{
		{Seq: 1, Kind: journal.Start, Path: "r"},
		{Seq: 2, Kind: journal.Intent, Class: journal.Read, Path: "plan.1/model", Body: body},
		{Seq: 3, Kind: journal.Result, Status: journal.OK, Path: "plan.1/model", Body: []byte(`{"text":"c","usage":{"input_tokens":7}}`)},
		{Seq: 4, Kind: journal.Intent, Class: journal.Write, Path: "tool.0", Body: []byte(`{"tool":"t"}`)},
		{Seq: 5, Kind: journal.Result, Status: journal.Failed, Path: "tool.0", Body: []byte(`{"code":"tool_error","message":"no"}`)},
		{Seq: 6, Kind: journal.Intent, Class: journal.Question, Path: "ask", Body: []byte(`{"kind":"approval"}`)},
	}
	call := func(path string) *runview.Call {
		t.Helper()
		c, err := runview.NewCall(recs, path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := call("plan.1/model"); c.Kind != runview.ModelItem || c.Status != runview.CallOK || len(c.Messages) != 1 || c.Messages[0].Text != "ab" ||
		string(c.Params) != `{"model":"m"}` || string(c.Fields["role"]) != `"planner"` || c.Usage.Input != 7 {
		t.Errorf("%+v", c)
	}
	if c := call("tool.0"); c.Kind != runview.ToolItem || c.Status != runview.CallFailed || c.Failure.Message != "no" || string(c.Request) != `{"tool":"t"}` {
		t.Errorf("%+v", c)
	}
	if c := call("ask"); c.Kind != runview.QuestionItem || c.Status != runview.CallOpen || c.Reply != nil {
		t.Errorf("%+v", c)
	}
	if c := call("none"); c != nil {
		t.Errorf("%+v", c)
	}
}

// A call names the call whose messages it begins with, and what else of the request changed.
func TestCallsNameTheirParents(t *testing.T) {
	var s journal.Segments
	recs := []journal.Record{{Seq: 1, Kind: journal.Start, Path: "r"}}
	add := func(path, params string, texts ...string) {
		t.Helper()
		q := journal.Request{Fields: []journal.Field{{Name: "params", JSON: []byte(params)}}}
		for _, text := range texts {
			q.Messages = append(q.Messages, journal.Message{Head: []byte(`{"role":"user"}`), Text: []string{text}})
		}
		body, err := s.Encode(q)
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, journal.Record{Seq: uint64(len(recs) + 1), Kind: journal.Intent, Class: journal.Read, Path: path, Body: body})
	}
	add("turn.1/model", `{"model":"m"}`, "system", "go")
	add("turn.2/model", `{"model":"n"}`, "system", "go", "more")
	add("turn.3/model", `{"model":"n"}`, "other")
	for path, want := range map[string]*runview.CallParent{
		"turn.1/model": nil,
		"turn.2/model": {Path: "turn.1/model", SharedMessages: 2, Changes: []runview.CallChange{{What: "parameters", Before: "model: \"m\"\n", After: "model: \"n\"\n"}}},
		"turn.3/model": nil,
	} {
		c, err := runview.NewCall(recs, path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, c.Parent); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
}
