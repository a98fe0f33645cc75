package genai

import (
	"encoding/base64"
	"encoding/json"

	"github.com/pexctl/pex/engine/model"
)

// noSignature replaces the signature of a call that was not made by a Google model. The API defines this value; it rejects
// conversations without signatures.
const noSignature = "skip_thought_signature_validator"

// history converts a conversation to the API's format.
type history struct {
	req            *model.Request
	needsSignature bool // the model requires a signature for the first call of a message
	contents       []*content
	system         *content
}

// write converts the messages. System messages at the start become the instruction; later ones become user messages.
// Empty messages are omitted because the API rejects empty texts.
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
			h.say(roleUser, append(filePieces(msg.Attachments), textPieces(msg.Text.String())...)...)
		}
	}
	if len(h.contents) == 0 && h.system != nil { // the API requires a message
		h.contents, h.system = []*content{{Role: roleUser, Parts: h.system.Parts}}, nil
	}
}

// instruct adds texts to the system instruction.
func (h *history) instruct(texts ...string) {
	for _, s := range texts {
		if s == "" {
			continue
		}
		if h.system == nil {
			h.system = &content{}
		}
		h.system.Parts = append(h.system.Parts, &piece{Text: s})
	}
}

func (h *history) say(role string, parts ...*piece) {
	if len(parts) > 0 {
		h.contents = append(h.contents, &content{Role: role, Parts: parts})
	}
}

func textPieces(s string) []*piece {
	if s == "" {
		return nil
	}
	return []*piece{{Text: s}}
}

func filePieces(files []model.Attachment) (out []*piece) {
	for i := range files {
		out = append(out, &piece{InlineData: &blob{Data: files[i].Content, MIMEType: files[i].MediaType}})
	}
	return out
}

func (h *history) calls(calls []model.ToolCall) (out []*piece) {
	for i, c := range calls {
		p := &piece{FunctionCall: &functionCall{ID: c.ID, Name: c.Name, Args: object(c.Args)}, ThoughtSignature: signature(c)}
		if i == 0 && h.needsSignature && p.ThoughtSignature == nil {
			p.ThoughtSignature = []byte(noSignature)
		}
		out = append(out, p)
	}
	return out
}

// signature returns the thought signature of a call, or nil.
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

// results converts tool results to one message. The API requires as many results as calls.
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

// tool returns the tool of a result: the message's, or that of its call.
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

// object converts a call's arguments and keeps their values unchanged. Invalid arguments are shown to the model as
// text.
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
