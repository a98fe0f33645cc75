package dsl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/memory"
)

// Messages parses a conversation in the common format of chat APIs: a JSON list
// of {"role": "user" or "assistant", "content": text}, or an object that has it
// under "messages". Content may be a list of {"type": "text", "text": ...}. Each
// question and its answer is an interaction, oldest first. A final message
// without an answer is the question ("" if none).
func Messages(file []byte) (earlier []memory.Interaction, question string, err error) {
	v, err := syntax.ParseJSON(&syntax.Source{Name: "messages", Text: file, Kind: syntax.Resolved})
	if err != nil {
		return nil, "", fmt.Errorf("the messages are not valid JSON: %w", err)
	}
	if within := v.Get("messages"); within != nil {
		v = within
	}
	if v.Kind != syntax.List {
		return nil, "", errors.New(`the messages must be a list: write [{"role": "user", "content": "..."}]`)
	}
	var turn memory.Interaction
	for i, m := range v.Items {
		text, err := content(m.Get("content"))
		if err != nil {
			return nil, "", fmt.Errorf("message %d: %w", i+1, err)
		}
		switch role := syntax.TextOf(m, "role"); role {
		case "user":
			if turn.Answer != "" {
				earlier, turn = append(earlier, turn), memory.Interaction{}
			}
			turn.Question = paragraphs(turn.Question, text)
		case "assistant":
			turn.Answer = paragraphs(turn.Answer, text)
		default:
			return nil, "", fmt.Errorf("message %d: invalid role %s; use user or assistant, and put instructions for the model in a system prompt of the spec", i+1, syntax.Quote(role))
		}
	}
	if turn.Answer != "" {
		return append(earlier, turn), "", nil
	}
	return earlier, turn.Question, nil
}

// content returns the text of a message, which may consist of parts.
func content(v *syntax.Node) (string, error) {
	switch {
	case v != nil && v.Kind == syntax.Text:
		return v.Text, nil
	case v == nil || v.Kind != syntax.List:
		return "", errors.New("missing content: a string or a list of text parts")
	}
	var out string
	for _, part := range v.Items {
		if kind := syntax.TextOf(part, "type"); kind != "text" {
			return "", fmt.Errorf("unsupported content type %s; only text is supported", syntax.Quote(kind))
		}
		said := part.Get("text")
		if said == nil || said.Kind != syntax.Text {
			return "", errors.New(`a content part has no text: write {"type": "text", "text": "..."}`)
		}
		out = paragraphs(out, said.Text)
	}
	return out, nil
}

func paragraphs(texts ...string) string {
	var kept []string
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n\n")
}
