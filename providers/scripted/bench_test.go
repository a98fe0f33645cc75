package scripted_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/scripted"
)

func BenchmarkCall(b *testing.B) {
	conditional := when("call > 0", func(e map[string]any) (bool, error) { return e["call"].(int) > 0, nil })
	req := &model.Request{Role: "executor", Call: 1, Step: "look", Messages: []model.Message{
		{Role: model.System, Text: model.Text{strings.Repeat("rule ", 100)}},
		{Role: model.User, Text: model.Text{strings.Repeat("word ", 100), "end"}},
	}}
	usage := &scripted.Usage{InputTokens: 1, OutputTokens: 1}
	for _, bb := range []struct {
		name  string
		reply scripted.Reply
	}{
		{"plain", scripted.Reply{Text: "x", Usage: usage}},
		{"estimated", scripted.Reply{Text: "x"}},
		{"condition", scripted.Reply{Text: "x", When: conditional, Usage: usage}},
		{"tool call", scripted.Reply{ToolCalls: []scripted.ToolCall{{Name: "t"}}, Usage: usage}},
	} {
		bb.reply.Times = new(0)
		b.Run(bb.name, func(b *testing.B) {
			m := newModel(b, model.Settings{}, scripted.Reply{Role: "planner"}, bb.reply).(model.Sequenced)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Choose(req).Generate(b.Context(), req, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
