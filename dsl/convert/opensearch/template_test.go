package opensearch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/opensearch"
)

// TestTemplatesOfTheFlowFramework converts the agent that a template registers,
// with what its node takes from others.
func TestTemplatesOfTheFlowFramework(t *testing.T) {
	const helper = `{"id": "helper", "type": "register_agent", "previous_node_inputs": {"deploy": "model_id", "list": "tools"},
		"user_inputs": {"name": "Helper", "type": "conversational", "parameters": {"system_prompt": "You help."}}}, `
	tests := []struct{ name, nodes, want, noted string }{
		{
			"its tools and its model, whose connector is two nodes away",
			helper + `{"id": "a", "type": "register_agent", "previous_node_inputs": {"deploy": "llm.model_id", "search": "tools"},
				"user_inputs": {"name": "Triage", "type": "plan_execute_and_reflect"}}`,
			"name: Triage model: gpt-9 SearchIndexTool", "todo workflows.provision.nodes[5].user_inputs is another agent",
		},
		{
			"the one that no tool calls",
			helper + `{"id": "ask", "type": "create_tool", "previous_node_inputs": {"helper": "agent_id"}, "user_inputs": {"type": "AgentTool", "name": "ask"}},
				{"id": "root", "type": "register_agent", "previous_node_inputs": {"deploy": "model_id", "ask": "tools"},
				"user_inputs": {"name": "Root", "type": "conversational"}}`,
			"name: Root", "todo workflows.provision.nodes[5].user_inputs is another agent",
		},
		{
			"an executor by the node that registers it",
			helper + `{"id": "a", "type": "register_agent", "previous_node_inputs": {"deploy": "model_id", "search": "tools"},
				"user_inputs": {"name": "Triage", "type": "plan_execute_and_reflect", "parameters": {"executor_agent_id": "${{helper.agent_id}}"}}}`,
			"name: Triage executor_system_prompt: You help. ListIndexTool", "changed workflows.provision.nodes[6].user_inputs.parameters.executor_agent_id its agent was given",
		},
		{
			"a flow agent beside a conversational one",
			`{"id": "f", "type": "register_agent", "user_inputs": {"name": "F", "type": "flow", "parameters": {}}}, ` + helper[:len(helper)-2],
			"name: Helper", "dropped use_case is said of the template",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := opensearch.Convert(convert.Input{Name: "t.json", Text: []byte(`{"use_case": "X", "workflows": {"provision": {"nodes": [
				{"id": "connect", "type": "create_connector", "user_inputs": {"name": "c", "protocol": "http", "parameters": {"model": "gpt-9"},
					"actions": [{"action_type": "predict", "url": "https://api.openai.com/v1/chat/completions", "request_body": "{\"model\": \"${parameters.model}\"}"}]}},
				{"id": "register", "type": "register_remote_model", "previous_node_inputs": {"connect": "connector_id"}, "user_inputs": {"name": "m"}},
				{"id": "deploy", "type": "deploy_model", "previous_node_inputs": {"register": "model_id"}},
				{"id": "list", "type": "create_tool", "user_inputs": {"type": "ListIndexTool"}},
				{"id": "search", "type": "create_tool", "user_inputs": {"type": "SearchIndexTool"}}, ` + tc.nodes + `]}}}`)})
			if err != nil {
				t.Fatal(err)
			}
			spec, notes := string(got.Files[0].Text), ""
			for _, n := range got.Notes {
				notes += fmt.Sprintln(n.Outcome, n.Path, n.What)
			}
			for want := range strings.SplitSeq(tc.want, " ") {
				if !strings.Contains(spec, want) {
					t.Errorf("no %q in\n%s", want, spec)
				}
			}
			if !strings.Contains(notes, tc.noted) || strings.Contains(notes, "nothing that is known") {
				t.Errorf("no %q, or a key that is not known, in\n%s", tc.noted, notes)
			}
		})
	}
	_, err := opensearch.Convert(convert.Input{Name: "t.json", Text: []byte(`{"workflows": {"p": {"nodes": [7, null, {"id": "x"}, {"id": "x", "previous_node_inputs": {"x": "model_id"}, "type": "register_agent", "user_inputs": []}]}}}`)})
	if err == nil || !strings.Contains(err.Error(), "there is no agent in it") {
		t.Errorf("nodes that hold nothing: %v", err)
	}
}
