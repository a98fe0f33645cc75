package http

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// prompted is bedrock/converse/deepseek_r1: the Converse API for a model without native
// tool calls. The system prompt describes the tools and a small JSON protocol, and calls
// and results are sent as text of that protocol.
type prompted struct{}

func (prompted) path(model string) string { return converse{}.path(model) }

func (prompted) traits() traits { return traits{toolCalls: true, prompted: true} }

// toolProtocol is the prompt if tools may be called; the tools follow, one per line.
const toolProtocol = `You can have tools called for you. Each of your replies is one JSON object and nothing else, in one of two forms.
To have tools called: {"stop_reason": "tool_use", "tool_calls": [{"id": "an id that you have not used before", "tool_name": "name of the tool", "input": {its arguments}}]}
To answer: {"stop_reason": "end_turn", "message": {"role": "assistant", "content": [{"text": "your answer"}]}}
What a tool gave comes back as {"tool_call_id": "the id", "tool_result": "what it gave"}. There are these tools, each with the JSON Schema of its input:
`

func (prompted) values(req *model.Request, _ bool, to map[string]any) {
	system, rest := modelhttp.SplitSystem(req.Messages)
	if len(req.Tools) > 0 {
		system = append(system, toolProtocol+strings.Join(toolLines(req.Tools), "\n"))
		if !req.ParallelTools {
			system = append(system, oneCall)
		}
	}
	if len(system) > 0 {
		to["system"] = blocks(system)
	}
	to["messages"] = turns(rest, promptedBlocks)
}

// toolLines returns the tools as JSON, one per line.
func toolLines(tools []model.ToolDef) []string {
	var out []string
	for _, t := range tools {
		fields := map[string]any{"name": t.Name}
		describe(fields, t, "description", "input_schema")
		if text, err := jsonvalue.Marshal(fields); err == nil {
			out = append(out, string(text))
		}
	}
	return out
}

// protocolCall and protocolReply are the protocol.
type protocolCall struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"tool_name"`
	Input json.RawMessage `json:"input,omitempty"`
}

type protocolReply struct {
	Stop    string          `json:"stop_reason"`
	Message json.RawMessage `json:"message,omitempty"`
	Calls   []protocolCall  `json:"tool_calls,omitempty"`
}

func promptedBlocks(m model.Message) []any {
	text := m.Text.String()
	switch {
	case m.Role == model.ToolRole:
		result := map[string]any{"tool_call_id": m.CallID, "tool_result": text}
		if m.IsError {
			result["tool_error"] = true
		}
		text = jsontemplate.Text(result)
	case len(m.Calls) > 0:
		reply := protocolReply{Stop: "tool_use"}
		if text != "" {
			reply.Message = json.RawMessage(jsontemplate.Text(map[string]any{"role": "assistant", "content": blocks([]string{text})}))
		}
		for _, c := range m.Calls {
			reply.Calls = append(reply.Calls, protocolCall{c.ID, c.Name, modelhttp.Object(c.Args)})
		}
		text = jsontemplate.Text(reply)
	}
	if out := blocks([]string{text}); len(out) > 0 {
		return out
	}
	return blocks([]string{empty})
}

func (prompted) body(values map[string]any) map[string]any {
	return converse{}.body(values)
}

// read parses text and, if tools were offered, the protocol. A reply without the protocol is a final answer.
func (prompted) read(req *model.Request, body []byte) (*rawReply, error) {
	out, err := converse{}.read(req, body)
	if err != nil {
		return nil, err
	}
	if out.usage.Total() == 0 { // some gateways return OpenAI's counts
		var a struct{ Usage json.RawMessage }
		if json.Unmarshal(body, &a) == nil {
			out.usage = chatUsage(a.Usage)
		}
	}
	if out.notFromModel() || len(out.calls) > 0 {
		return out, nil
	}
	return out, out.parseProtocol(len(req.Tools) > 0)
}

// parseProtocol parses the text by the protocol. A model may continue to use it when no tools are offered any more.
func (d *rawReply) parseProtocol(offered bool) error {
	text := findObject(d.text)
	var reply protocolReply
	err := json.Unmarshal([]byte(text), &reply)
	complete := reply.Stop == "tool_use" && len(reply.Calls) > 0 || reply.Stop == "end_turn" && len(reply.Message) > 0
	if err != nil || !complete && (!offered || reply.Stop == "" && len(reply.Calls) == 0) {
		if offered && d.stop != model.MaxTokens && strings.Contains(text, `"tool_calls"`) {
			return modelhttp.Bad("the model's tool call cannot be read: %.200s", text)
		}
		return nil
	}
	for _, c := range reply.Calls {
		d.calls = append(d.calls, model.ToolCall{ID: c.ID, Name: c.Name, Args: arguments(c.Input)})
	}
	d.text = message(reply.Message)
	return nil
}

// message returns the text of a reply's message: an object with content, or text.
func message(raw json.RawMessage) string {
	var v any
	if len(raw) == 0 || jsontemplate.Decode(raw, &v) != nil {
		return ""
	}
	if o, ok := v.(map[string]any); ok && o["content"] != nil {
		v = o["content"]
	}
	return contentText(v)
}

// findObject returns the JSON object in a text, which may have thinking, a code fence or other text around it. Without
// an object it returns the text.
func findObject(text string) string {
	if _, after, ok := strings.Cut(text, "</think>"); ok {
		text = after
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return text
	}
	return text[from : to+1]
}
