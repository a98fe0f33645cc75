package modelhttp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
)

// AskForJSON returns a request with the schema in the system prompt, for servers without
// a field for it.
func AskForJSON(req *model.Request) *model.Request {
	instruction := fmt.Sprintf("Answer with one JSON value and nothing else. It must fit this JSON Schema, named %q:\n%s", req.Schema.Name, req.Schema.Schema)
	out := *req
	out.Schema = nil
	n := 0
	for n < len(req.Messages) && req.Messages[n].Role == model.System {
		n++
	}
	out.Messages = append([]model.Message{}, req.Messages[:n]...)
	out.Messages = append(out.Messages, model.Message{Role: model.System, Text: model.Text{instruction}})
	out.Messages = append(out.Messages, req.Messages[n:]...)
	return &out
}

// SplitSystem returns the texts of the system messages, and the other messages.
func SplitSystem(messages []model.Message) (system []string, rest []model.Message) {
	for _, m := range messages {
		if m.Role == model.System {
			system = append(system, m.Text.String())
		} else {
			rest = append(rest, m)
		}
	}
	return system, rest
}

// Transcript returns the conversation as text: the only message, or a dialogue with
// names.
func Transcript(messages []model.Message, withSystem bool) string {
	system, rest := SplitSystem(messages)
	var parts []string
	if withSystem {
		parts = system
	}
	for _, m := range rest {
		text := MessageText(m)
		if len(rest) > 1 {
			speaker := "User: "
			if m.Role == model.Assistant {
				speaker = "Assistant: "
			}
			text = speaker + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// MessageText returns a message as text, including tool calls and results.
func MessageText(m model.Message) string {
	text := m.Text.String()
	if m.Role == model.ToolRole {
		prefix := "Result of "
		if m.IsError {
			prefix = "Error of "
		}
		return prefix + "the tool " + m.Tool + ":\n" + text
	}
	for _, c := range m.Calls {
		if text != "" {
			text += "\n"
		}
		text += fmt.Sprintf("(calls the tool %s with %s)", c.Name, Object(c.Args))
	}
	return text
}

// Object returns a call's arguments as a JSON object; anything else is shown to the model
// as the text it wrote.
func Object(args json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	if json.Unmarshal(args, &fields) == nil && fields != nil {
		return args
	}
	b, _ := jsonvalue.Marshal(map[string]string{"not_an_object": string(args)}) // strings always encode
	return b
}

var notInNames = text.Regexp(`[^A-Za-z0-9_-]`)

// SchemaName converts a schema's name to at most 64 letters, digits, _ and -, as
// protocols require.
func SchemaName(s string) string {
	s = notInNames().ReplaceAllString(s, "_")
	if s == "" {
		return "reply"
	}
	return s[:min(len(s), 64)]
}
