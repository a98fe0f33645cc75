package genai

import (
	"encoding/base64"
	"encoding/json"

	"github.com/pexctl/pex/engine/model"
)

// unsigned stands for the signature of a call that no model of Google's made:
// the API's own word for it. Without one it refuses the conversation.
const unsigned = "skip_thought_signature_validator"

// history writes a conversation in the API's terms.
type history struct {
	req      *model.Request
	signed   bool // the model wants a signature with the first call of a message
	contents []*said
	system   *said
}

// write goes through the messages. What the system says first is the
// instruction; later it stands where it was said, as the user's words. A
// message that says nothing is left out: the API refuses empty texts.
func (h *history) write() {
	for i := 0; i < len(h.req.Messages); i++ {
		msg := h.req.Messages[i]
		switch msg.Role {
		case model.System:
			if len(h.contents) == 0 {
				h.instruct(msg.Text.String())
				continue
			}
			h.say(roleUser, textPieces(msg.Text.String())...)
		case model.Assistant:
			h.say(roleModel, append(textPieces(msg.Text.String()), h.calls(msg.Calls)...)...)
		case model.ToolRole:
			end := i
			for end < len(h.req.Messages) && h.req.Messages[end].Role == model.ToolRole {
				end++
			}
			h.say(roleUser, h.results(h.req.Messages[i:end])...)
			i = end - 1
		case model.User:
			h.say(roleUser, textPieces(msg.Text.String())...)
		}
	}
	if len(h.contents) == 0 && h.system != nil { // the API wants somebody to have spoken
		h.contents, h.system = []*said{{Role: roleUser, Parts: h.system.Parts}}, nil
	}
}

// instruct adds to the system's instruction.
func (h *history) instruct(texts ...string) {
	for _, s := range texts {
		if s == "" {
			continue
		}
		if h.system == nil {
			h.system = &said{}
		}
		h.system.Parts = append(h.system.Parts, &piece{Text: s})
	}
}

func (h *history) say(role string, parts ...*piece) {
	if len(parts) > 0 {
		h.contents = append(h.contents, &said{Role: role, Parts: parts})
	}
}

func textPieces(s string) []*piece {
	if s == "" {
		return nil
	}
	return []*piece{{Text: s}}
}

func (h *history) calls(calls []model.ToolCall) (out []*piece) {
	for i, c := range calls {
		p := &piece{FunctionCall: &functionCall{ID: c.ID, Name: c.Name, Args: object(c.Args)}, ThoughtSignature: signature(c)}
		if i == 0 && h.signed && p.ThoughtSignature == nil {
			p.ThoughtSignature = []byte(unsigned)
		}
		out = append(out, p)
	}
	return out
}

// signature is the thought signature that came with a call, nil for none.
func signature(c model.ToolCall) []byte {
	var o opaque
	if len(c.Opaque) == 0 || json.Unmarshal(c.Opaque, &o) != nil || o.Signature == "" {
		return nil
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := e.DecodeString(o.Signature); err == nil {
			return b
		}
	}
	return nil
}

// results are what tools gave, in one message: the API wants as many results
// as there were calls.
func (h *history) results(messages []model.Message) (out []*piece) {
	for _, msg := range messages {
		key := "output"
		if msg.IsError {
			key = "error"
		}
		out = append(out, &piece{FunctionResponse: &functionResponse{
			ID: msg.CallID, Name: h.tool(msg), Response: map[string]any{key: msg.Text.String()},
		}})
	}
	return out
}

// tool is the name of the tool that answers: the message's, or that of its call.
func (h *history) tool(msg model.Message) string {
	if msg.Tool != "" {
		return msg.Tool
	}
	for _, m := range h.req.Messages {
		for _, c := range m.Calls {
			if c.ID == msg.CallID {
				return c.Name
			}
		}
	}
	return "tool"
}

// object is a call's arguments, each as the model wrote it. What is no object
// is shown to the model as the text it wrote.
func object(args json.RawMessage) map[string]any {
	if len(args) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil || fields == nil {
		return map[string]any{"not_an_object": string(args)}
	}
	out := make(map[string]any, len(fields))
	for name, value := range fields {
		out[name] = value
	}
	return out
}
