package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
)

// ask makes one call, which must succeed.
func (s *modelSuite) ask(t *testing.T, req *model.Request, x Response) (*model.Reply, ReceivedRequest) {
	t.Helper()
	script := NewModelScript(x)
	reply, err := s.newModel(t, script, settings()).Generate(t.Context(), req, nil)
	if err != nil {
		t.Fatalf("no reply: %v", err)
	}
	asked := script.Requests()
	if len(asked) != 1 {
		t.Fatalf("%d requests for one call", len(asked))
	}
	return reply, asked[0]
}

func say(role model.Role, text ...string) model.Message {
	return model.Message{Role: role, Text: text}
}

func question() *model.Request {
	return &model.Request{Messages: []model.Message{say(model.System, "Be brief."), say(model.User, "How ", "many?")}}
}

// same compares values by their JSON, which joins the segments of texts.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := text(t, got), text(t, want); g != w {
		t.Errorf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	if messages, ok := v.([]model.Message); ok {
		joined := make([]model.Message, len(messages))
		for i, m := range messages {
			m.Text = model.Text{m.Text.String()}
			joined[i] = m
		}
		v = joined
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (s *modelSuite) text(t *testing.T) {
	reply, asked := s.ask(t, question(), Response{Reply: model.Reply{
		Text: "Three.\n\"Três\" 三 🙂", Stop: model.EndTurn, ID: "r-1", Model: "model-1-2026", Usage: model.Tokens{Input: 1, Output: 1},
	}})
	same(t, "messages", asked.Messages, question().Messages)
	if asked.Streamed || asked.Params.Model != "model-1" {
		t.Errorf("requested model %q, streamed %v", asked.Params.Model, asked.Streamed)
	}
	if reply.Text != "Three.\n\"Três\" 三 🙂" || reply.Stop != model.EndTurn || reply.ID != "r-1" || reply.Model != "model-1-2026" {
		t.Errorf("reply %+v", reply)
	}
	if reply.Attempts != 0 || reply.FirstToken != 0 {
		t.Errorf("reply without streaming: attempts %d, first token %v", reply.Attempts, reply.FirstToken)
	}
}

func (s *modelSuite) conversation(t *testing.T) {
	req := &model.Request{Messages: []model.Message{
		say(model.System, "Be brief."),
		say(model.User, "Compare."),
		{Role: model.Assistant, Text: model.Text{"I look at both."}, Calls: []model.ToolCall{
			{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":"moss"}`)},
			{ID: "c2", Name: "find", Args: json.RawMessage(`{"q":"fern"}`)},
		}},
		{Role: model.ToolRole, CallID: "c1", Tool: "find", Text: model.Text{"green"}},
		{Role: model.ToolRole, CallID: "c2", Tool: "find", Text: model.Text{"no such plant"}},
		say(model.Assistant, "Moss is green."),
		say(model.User, "And the other?"),
	}}
	_, asked := s.ask(t, req, Response{})
	for i := range asked.Messages {
		if i < len(req.Messages) {
			asked.Messages[i].Tool = req.Messages[i].Tool // not every protocol repeats the name
		}
	}
	same(t, "messages", asked.Messages, req.Messages)
}

func (s *modelSuite) tools(t *testing.T) {
	req := question()
	req.ParallelTools = true
	req.Tools = []model.ToolDef{
		{Name: "find", Description: "Finds plants.", Input: json.RawMessage(`{"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"}`)},
		{Name: "server__clock", Input: json.RawMessage(`{"type":"object"}`)},
	}
	want := []model.ToolCall{
		{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":"moss"}`)},
		{ID: "c2", Name: "server__clock", Args: json.RawMessage(`{}`)},
	}
	reply, asked := s.ask(t, req, Response{Reply: model.Reply{Text: "I look.", Calls: want, Stop: model.ToolUse}})
	same(t, "tools", asked.Tools, req.Tools)
	same(t, "calls", reply.Calls, want)
	if reply.Stop != model.ToolUse || reply.Text != "I look." || !asked.ParallelTools {
		t.Errorf("stop %s, text %q, parallel %v", reply.Stop, reply.Text, asked.ParallelTools)
	}
	req.ParallelTools = false
	if _, asked := s.ask(t, req, Response{}); asked.ParallelTools {
		t.Error("parallel tool calls were not switched off")
	}
}

func (s *modelSuite) emptyMessages(t *testing.T) {
	req := &model.Request{Messages: []model.Message{
		say(model.User, "Go."),
		{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c1", Name: "clock"}}},
		{Role: model.ToolRole, CallID: "c1", Tool: "clock", Text: model.Text{""}},
		{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c2", Name: "clock", Args: json.RawMessage(`{"x":`)}}},
		{Role: model.ToolRole, CallID: "c2", Tool: "clock", Text: model.Text{"not JSON"}, IsError: true},
	}}
	_, asked := s.ask(t, req, Response{})
	if len(asked.Messages) != len(req.Messages) {
		t.Fatalf("%d of %d messages were sent", len(asked.Messages), len(req.Messages))
	}
	for _, m := range asked.Messages {
		for _, c := range m.Calls {
			var fields map[string]any
			if json.Unmarshal(c.Args, &fields) != nil || fields == nil {
				t.Errorf("sent arguments %s, which are not an object", c.Args)
			}
		}
	}
}

func (s *modelSuite) parameters(t *testing.T) {
	zero, p, seed := 0.0, 0.5, int64(7)
	req := question()
	req.Params = model.Params{Model: "model-2", Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 99, Stop: []string{"END", "\n\n"}}
	_, asked := s.ask(t, req, Response{})
	same(t, "parameters", asked.Params, req.Params)
}

func (s *modelSuite) unset(t *testing.T) {
	_, asked := s.ask(t, question(), Response{})
	same(t, "parameters", asked.Params, model.Params{Model: "model-1"})
	if asked.Schema != nil || len(asked.Tools) > 0 {
		t.Errorf("schema %v, tools %v were sent though unset", asked.Schema, asked.Tools)
	}
}

func (s *modelSuite) schema(t *testing.T) {
	req := question()
	req.Schema = &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":["x",null]}}}`)}
	_, asked := s.ask(t, req, Response{})
	if asked.Schema == nil {
		t.Fatal("no schema was sent")
	}
	same(t, "schema", asked.Schema, req.Schema)
}

func (s *modelSuite) stops(t *testing.T) {
	call := []model.ToolCall{{ID: "c1", Name: "find", Args: json.RawMessage(`{}`)}}
	for _, x := range []model.Reply{
		{Text: "done", Stop: model.EndTurn},
		{Text: "and th", Stop: model.MaxTokens},
		{Calls: call, Stop: model.ToolUse},
		{Text: "", Stop: model.ContentFiltered},
	} {
		t.Run(string(x.Stop), func(t *testing.T) {
			if reply, _ := s.ask(t, question(), Response{Reply: x}); reply.Stop != x.Stop {
				t.Errorf("stop %q", reply.Stop)
			}
		})
	}
}

func (s *modelSuite) refusal(t *testing.T) {
	reply, _ := s.ask(t, question(), Response{Reply: model.Reply{Text: "I cannot help with that.", Stop: model.Refusal}})
	if reply.Stop != model.Refusal || reply.Text != "I cannot help with that." {
		t.Errorf("reply %+v", reply)
	}
}

func (s *modelSuite) usage(t *testing.T) {
	want := model.Tokens{Input: 120, Output: 30, Cached: 100, Reasoning: 20}
	reply, _ := s.ask(t, question(), Response{Reply: model.Reply{Text: "x", Usage: want}})
	if reply.Usage != want || reply.Estimated {
		t.Errorf("usage %+v, estimated %v", reply.Usage, reply.Estimated)
	}
}

func (s *modelSuite) missingUsage(t *testing.T) {
	req := &model.Request{Messages: []model.Message{say(model.User, strings.Repeat("é", 401))}}
	reply, _ := s.ask(t, req, Response{Reply: model.Reply{Text: strings.Repeat("三", 40)}})
	if want := (model.Tokens{Input: 101, Output: 10}); reply.Usage != want || !reply.Estimated {
		t.Errorf("usage %+v, estimated %v, want %+v", reply.Usage, reply.Estimated, want)
	}
}

func (s *modelSuite) callIDs(t *testing.T) {
	req := question()
	req.Messages = append(
		req.Messages,
		model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c1", Name: "find"}, {ID: "call_1", Name: "find"}}},
		model.Message{Role: model.ToolRole, CallID: "c1", Text: model.Text{"-"}},
		model.Message{Role: model.ToolRole, CallID: "call_1", Text: model.Text{"-"}},
	)
	var calls []model.ToolCall
	for _, id := range []string{"", "c2", "c2", "c1"} {
		calls = append(calls, model.ToolCall{ID: id, Name: "find", Args: json.RawMessage(`{}`)})
	}
	for range 2 {
		reply, _ := s.ask(t, req, Response{Reply: model.Reply{Calls: calls, Stop: model.ToolUse}})
		var got []string
		for _, c := range reply.Calls {
			got = append(got, c.ID)
		}
		if fmt.Sprint(got) != "[call_2 c2 call_3 call_4]" {
			t.Errorf("ids %v are not unique or not deterministic", got)
		}
	}
}
