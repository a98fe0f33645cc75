package otel_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/providers/otel"
)

const capturing = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// contentAttributes are the attributes with content, and the definition of their values in
// testdata/content.schema.json; "" = text.
var contentAttributes = map[string]string{
	"gen_ai.system_instructions": "system_instructions", "gen_ai.input.messages": "input_messages", "gen_ai.output.messages": "output_messages",
	"gen_ai.tool.definitions": "tool_definitions", "gen_ai.tool.call.arguments": "tool_call", "gen_ai.tool.call.result": "tool_call",
	"gen_ai.tool.description": "", "pex.step.goal": "",
}

// conversation are the events of a run with a step, whose texts all end in suffix.
func conversation(p *engine.Program, suffix string) []engine.Event {
	at := time.Unix(1_700_000_000, 0)
	step := &engine.StepEvent{ID: "s1", Goal: "goal " + suffix, Status: plan.OK, Attempts: 1}
	args, _ := json.Marshal(map[string]string{"q": "argument " + suffix})
	call := model.ToolCall{ID: "c1", Name: "look", Args: args}
	request := &model.Request{
		Tools: []model.ToolDef{{Name: "look", Description: "looks " + suffix, Input: json.RawMessage(`{"type":"object"}`)}},
		Messages: []model.Message{
			{Role: model.System, Text: model.Text{"instructions ", suffix}},
			{Role: model.User, Text: model.Text{"prompt " + suffix}, Attachments: []model.Attachment{{Name: "a/b.png", MediaType: "image/png", SHA256: "ab12", Size: 5, Content: []byte("bytes")}}},
			{Role: model.Assistant, Calls: []model.ToolCall{call, {Name: "bad", Args: json.RawMessage(`{"q`)}}},
			{Role: model.ToolRole, CallID: "c1", Tool: "look", Text: model.Text{`{"found":"` + suffix + `"}`}},
			{Role: model.ToolRole, CallID: "c2", Tool: "bad", Text: model.Text{"error " + suffix}},
		},
	}
	const turn = "step.s1/turn.1"
	events := []engine.Event{
		{Type: engine.RunStarted, Question: "question " + suffix},
		{Type: engine.StepStartedEvent, Path: "step.s1", Step: step},
		{Type: engine.ModelStarted, Path: turn + "/model", Role: "executor", Model: "main", Step: step, Request: request},
		{Type: engine.ModelCompleted, Path: turn + "/model", Role: "executor", Model: "main", Step: step, Status: "tool_use", Message: &model.Message{Role: model.Assistant, Text: model.Text{"reply " + suffix}, Calls: []model.ToolCall{call}}},
		{Type: engine.ToolStarted, Path: turn + "/tool.0", Tool: "look", Args: args, Step: step},
		{Type: engine.ToolCompleted, Path: turn + "/tool.0", Tool: "look", Args: args, Step: step, Status: "ok", Text: "result " + suffix},
		{Type: engine.StepCompleted, Path: "step.s1", Step: step},
		{Type: engine.RunCompleted, Status: string(stop.RunCompleted), Stop: &stop.Reason{Code: stop.Answered}, Text: "answer " + suffix},
	}
	for i := range events {
		events[i].Seq, events[i].At, events[i].Program = i+1, at.Add(time.Duration(i)*time.Second), p
	}
	return events
}

// contentOf exports a run with a setting, and returns the attributes with content by span and
// name.
func contentOf(t *testing.T, setting, suffix string, secrets *secret.Values) map[string]string {
	t.Helper()
	exported := tracetest.NewInMemoryExporter()
	warnings := make(chan error, 10)
	tel, err := otel.Open(t.Context(), otel.Options{
		Getenv: environment(capturing, setting), Exporter: exported, Warn: func(err error) { warnings <- err },
		Secrets: func(*engine.Program) *secret.Values { return secrets },
	})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for range len(warnings) { // later ones are of exporters that other tests have closed
		out["warning"] += (<-warnings).Error()
	}
	p := &engine.Program{Name: "a"}
	for _, sink := range tel.Sinks(p, &engine.Input{RunID: "r"}, otel.FileMarks{Dir: t.TempDir()}) {
		for _, ev := range conversation(p, suffix) {
			sink.Send(ev)
		}
	}
	for _, s := range exported.GetSpans() {
		for _, a := range s.Attributes {
			if _, ok := contentAttributes[string(a.Key)]; ok {
				out[s.Name+" "+string(a.Key)] = a.Value.AsString()
			}
		}
	}
	if err := tel.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return out
}

// validate checks attributes with content against the definitions of the schema.
func validate(t *testing.T, attributes map[string]string) {
	t.Helper()
	b, err := os.ReadFile("testdata/content.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("content.json", strings.NewReader(string(b))); err != nil {
		t.Fatal(err)
	}
	for name, value := range attributes {
		definition := contentAttributes[name[strings.LastIndex(name, " ")+1:]]
		if len(value) > 64<<10 {
			t.Errorf("%s has %d bytes", name, len(value))
		}
		if definition == "" {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := c.MustCompile("content.json#/$defs/" + definition).Validate(v); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// Content is exported if the environment opts in, and as the conventions say.
func TestContent(t *testing.T) {
	for _, setting := range []string{"", "NO_CONTENT", "false"} {
		if got := contentOf(t, setting, "x", nil); len(got) != 0 {
			t.Errorf("%q: %v", setting, got)
		}
	}
	if got := contentOf(t, "all", "x", nil); len(got) != 1 || !strings.HasPrefix(got["warning"], capturing+": unknown value") {
		t.Errorf("%v", got)
	}
	if got := contentOf(t, "EVENT_ONLY", "x", nil); len(got) != 1 || !strings.HasPrefix(got["warning"], capturing+": events are not exported") {
		t.Errorf("%v", got)
	}
	if got := contentOf(t, "SPAN_AND_EVENT", "x", nil); len(got) != 11 || !strings.HasPrefix(got["warning"], capturing+": events are not exported") {
		t.Errorf("%v", got)
	}
	if got := contentOf(t, "True", "x", nil); len(got) != 10 {
		t.Errorf("%v", got)
	}
	got := contentOf(t, "span_only", "x", nil)
	validate(t, got)
	for name, want := range map[string]string{
		"chat main gen_ai.system_instructions":         `[{"type":"text","content":"instructions x"}]`,
		"chat main gen_ai.tool.definitions":            `[{"type":"function","name":"look","description":"looks x","parameters":{"type":"object"}}]`,
		"chat main gen_ai.output.messages":             `[{"role":"assistant","parts":[{"type":"text","content":"reply x"},{"type":"tool_call","id":"c1","name":"look","arguments":{"q":"argument x"}}],"finish_reason":"tool_call"}]`,
		"invoke_agent a gen_ai.input.messages":         `[{"role":"user","parts":[{"type":"text","content":"question x"}]}]`,
		"invoke_agent a gen_ai.output.messages":        `[{"role":"assistant","parts":[{"type":"text","content":"answer x"}],"finish_reason":"stop"}]`,
		"execute_tool look gen_ai.tool.call.arguments": `{"q":"argument x"}`,
		"execute_tool look gen_ai.tool.call.result":    `{"text":"result x"}`,
		"execute_tool look gen_ai.tool.description":    "looks x",
		"pex.step s1 pex.step.goal":                    "goal x",
		"chat main gen_ai.input.messages": `[{"role":"user","parts":[{"type":"file","mime_type":"image/png","modality":"image","file_id":"sha256:ab12","name":"b.png","size":5},{"type":"text","content":"prompt x"}]},` +
			`{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"look","arguments":{"q":"argument x"}},{"type":"tool_call","name":"bad","arguments":"{\"q"}]},` +
			`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":{"found":"x"}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c2","response":"error x"}]}]`,
	} {
		if got[name] != want {
			t.Errorf("%s:\n%s, want\n%s", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// Content that exceeds 64 KiB is cut, and stays valid: the oldest messages go first.
func TestLongContent(t *testing.T) {
	for _, size := range []int{20_000, 40_000, 70_000, 300_000} {
		got := contentOf(t, "SPAN_ONLY", strings.Repeat("é\"", size/3), nil)
		validate(t, got)
		if len(got) != 10 {
			t.Errorf("%d attributes", len(got))
		}
		for name, value := range got {
			if !strings.Contains(value, "omitted") && size >= 70_000 {
				t.Errorf("%s of %d bytes has no marker: %s", name, len(value), text.Head(value, 100))
			}
		}
		if in := got["chat main gen_ai.input.messages"]; !strings.Contains(in, `"type":"omitted"`) || !strings.Contains(in, `"c2"`) {
			t.Errorf("messages of %d bytes: %s", size, text.Head(in, 200))
		}
	}
}

// Content has no secrets, wherever they are.
func TestContentHasNoSecrets(t *testing.T) {
	const key = "sk-live-7h3s3cr3tk3y"
	secrets := secret.New(map[string]string{"API_KEY": key})
	for _, suffix := range []string{key, strings.Repeat("é", 30_000) + key, strings.Repeat("x", 65_536-20) + key} {
		got := contentOf(t, "SPAN_ONLY", suffix, secrets)
		validate(t, got)
		for name, value := range got {
			if strings.Contains(value, key) || strings.Contains(value, key[:9]) {
				t.Errorf("%s has the secret", name)
			}
		}
	}
}
