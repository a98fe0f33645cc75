package node

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

func findTool(tools []tool.Info, name string) (tool.Info, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return tool.Info{}, false
}

type inputSchema struct {
	Required   []string `json:"required"`
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
}

// onlyString returns the name of the only required argument if it is a string, ""
// otherwise.
func onlyString(schema json.RawMessage) string {
	var in inputSchema
	if json.Unmarshal(schema, &in) != nil || len(in.Required) != 1 {
		return ""
	}
	if in.Properties[in.Required[0]].Type != "string" {
		return ""
	}
	return in.Required[0]
}

// toTyped returns text as the JSON value it contains, if that is not a string. If
// wantText is set, it returns text unchanged.
func toTyped(text string, wantText bool) any {
	if wantText {
		return text
	}
	if v, err := reply.Decode([]byte(text)); err == nil {
		if _, isString := v.(string); !isString {
			return v
		}
	}
	return text
}

func toolDefs(tools []tool.Info) []model.ToolDef {
	if len(tools) == 0 {
		return nil
	}
	out := make([]model.ToolDef, len(tools))
	for i, t := range tools {
		out[i] = model.ToolDef{Name: t.Name, Description: t.Description, Input: t.Input}
	}
	return out
}

func textOf(s string) model.Text {
	if s == "" {
		return nil
	}
	return model.Text{s}
}

// recordExchange adds a request to a model and its reply to the conversation.
func recordExchange(s engine.Scope, messages []model.Message, r *model.Reply) {
	if !s.View().Conversation {
		return
	}
	s.Record(engine.MessagesAdded{System: messages[0].Text, Messages: []model.Message{
		messages[len(messages)-1], {Role: model.Assistant, Text: textOf(r.Text), Reply: r},
	}})
}

// warnUnenforced adds a warning if the server could enforce the reply schema but the LLM
// does not set the option that enables it.
func warnUnenforced(s engine.Scope, role, llm string) {
	m := s.View().Program.Model(llm)
	if m == nil {
		return
	}
	enforcer, ok := m.Config.(model.SchemaEnforcer)
	if !ok {
		return
	}
	if value := enforcer.EnforcingOutput(); value != "" {
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s (%s): set %s.options.structured_output: %s, so that the server makes replies match the schema",
			llm, role, m.Path, value)})
	}
}
