package runview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
)

// prompts adds the prompts to model calls, until MaxText is used up, or only that of one call.
func (b *builder) prompts(records []journal.Record, only string) error {
	asked, err := drift.Requests(records)
	if err != nil {
		return fmt.Errorf("prompts of run %s: %w", b.view.Run, err)
	}
	size := 0
	for i, a := range asked {
		p, ok := b.items[a.Path]
		if !ok || only != "" && a.Path != only {
			continue
		}
		prompt := &Prompt{Messages: []Message{}, Tools: toolNames(a.Request)}
		b.item(p).Prompt = prompt
		from, known := drift.SharedPrefix(asked[:i], a.Request)
		if at, ok := b.items[from]; ok && known > 0 {
			prompt.From, prompt.Shared = b.item(at).ID, known
		} else {
			known = 0
		}
		for _, m := range a.Request.Messages[known:] {
			for _, s := range m.Text {
				size += len(s)
			}
			if prompt.Omitted = size > MaxText; prompt.Omitted {
				b.view.Omitted.Prompts++
				break
			}
			prompt.Messages = append(prompt.Messages, messageOf(m))
		}
	}
	return nil
}

func messageOf(m journal.Message) Message {
	var head model.Message
	if json.Unmarshal(m.Head, &head) != nil {
		head.Role = "message"
	}
	return Message{Role: string(head.Role), Tool: head.Tool, Calls: head.Calls, Segments: joinSegments(m.Text), Attachments: head.Attachments}
}

// joinSegments drops empty segments, and appends blank ones to the segment before.
func joinSegments(text []string) []string {
	out := []string{}
	for _, s := range text {
		switch {
		case s == "":
		case len(out) > 0 && strings.TrimSpace(s) == "":
			out[len(out)-1] += s
		default:
			out = append(out, s)
		}
	}
	return out
}

// toolNames returns the names of the tools in a request.
func toolNames(q journal.Request) (names []string) {
	i := slices.IndexFunc(q.Fields, func(f journal.Field) bool { return f.Name == "tools" })
	if i < 0 {
		return nil
	}
	var tools []model.ToolDef
	if json.Unmarshal(q.Fields[i].JSON, &tools) != nil {
		return nil
	}
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}
