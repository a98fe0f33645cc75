package runview_test

import (
	"testing"

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
