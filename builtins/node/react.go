package node

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// textual is the protocol of models without a tool call API: thought, action and
// observation as text.
type textual struct{ tools []tool.Info }

func (t *textual) open(messages []model.Message, tools []tool.Info) ([]model.Message, []model.ToolDef) {
	t.tools = tools
	text := model.Text{"\n", reactProtocol}
	for _, t := range tools {
		text = append(text, "- "+t.Name+": ", strings.TrimSpace(t.Description), "\n  arguments: ", string(t.Input), "\n")
	}
	system := messages[0]
	system.Text = append(slices.Clip(system.Text), text...)
	return append([]model.Message{system}, messages[1:]...), nil
}

func (t *textual) read(r *model.Reply, turn int) parsedReply {
	a := reply.React(r.Text, reply.Options{Truncated: r.Stop == model.MaxTokens})
	switch {
	case a.Code == reply.Refusal:
		return parsedReply{answer: r.Text, isRefusal: true}
	case a.Code != "":
		return parsedReply{retry: a.Message}
	case a.Final:
		return parsedReply{answer: a.Answer}
	}
	return parsedReply{calls: []model.ToolCall{{Name: a.Tool, Args: t.object(a.Tool, a.Input)}}}
}

// object wraps a plain text input as the arguments of the tool: the value of its only
// required string.
func (t *textual) object(tool string, input json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(input, &text) != nil {
		return input
	}
	if info, ok := findTool(t.tools, tool); ok {
		if name := onlyString(info.Input); name != "" {
			return jsonvalue.Encode(map[string]string{name: text})
		}
	}
	return input
}

// observed starts a message with tool outputs.
const observationPrefix = "Observation"

func (*textual) appendTurn(messages []model.Message, r *model.Reply, _ []model.ToolCall, results []tool.Record) []model.Message {
	observation := model.Text{observationPrefix}
	for _, rec := range results {
		if rec.Status != tool.CallOK {
			observation = append(observation, " (", string(rec.Status), ")")
		}
		observation = append(append(append(observation, ":\n"), outputOf(rec)...), "\n")
	}
	return append(messages,
		model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Reply: r},
		model.Message{Role: model.User, Text: observation})
}
