package e2e

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/model"
)

// Requests returns requests to chat models, by name, that together use everything that a
// request can have.
func Requests() map[string]*model.Request {
	zero, p, seed := 0.0, 0.5, int64(-7)
	object := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	user := model.Message{Role: model.User, Text: model.Text{"Compare <moss> & fern \u2028."}}
	calls := []model.ToolCall{{ID: "call_0", Name: "find", Args: json.RawMessage(`{"q":"moss"}`)}, {ID: "call_1", Name: "clock"}}
	tools := []model.ToolDef{{Name: "find", Description: "Finds plants.", Input: object}, {Name: "clock"}}
	return map[string]*model.Request{
		"minimal":  {Messages: []model.Message{user}},
		"system":   {Messages: []model.Message{{Role: model.System, Text: model.Text{"Be brief."}}, user}},
		"sampling": {Messages: []model.Message{user}, Params: model.Params{Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 50, Stop: []string{"END", "\n"}}},
		"tools": {Tools: tools, Messages: []model.Message{
			user,
			{Role: model.Assistant, Text: model.Text{"I look."}, Calls: calls},
			{Role: model.ToolRole, CallID: "call_0", Tool: "find", Text: model.Text{"green"}},
			{Role: model.ToolRole, CallID: "call_1", Tool: "clock"},
		}},
		"tools without text": {Tools: tools, ParallelTools: true, Messages: []model.Message{
			user,
			{Role: model.Assistant, Calls: calls[:1]},
			{Role: model.ToolRole, CallID: "call_0", Tool: "find", Text: model.Text{"green"}, IsError: true},
		}},
		"arguments that are no object": {Messages: []model.Message{
			user,
			{Role: model.Assistant, Calls: []model.ToolCall{{ID: "call_0", Name: "find", Args: json.RawMessage(`[1]`)}}},
			{Role: model.ToolRole, CallID: "call_0", Tool: "find", Text: model.Text{"no"}},
		}},
		"empty reply":   {Messages: []model.Message{user, {Role: model.Assistant}, user}},
		"strict schema": {Messages: []model.Message{user}, Schema: &model.ReplySchema{Name: "the plan/1", Schema: object}},
		"other schema":  {Messages: []model.Message{user}, Schema: &model.ReplySchema{Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}
