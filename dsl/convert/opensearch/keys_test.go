package opensearch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/opensearch"
)

// agentOf returns the body of an agent with members beside its type and LLM.
func agentOf(members string) convert.Input {
	return convert.Input{Name: "agent.json", Text: []byte(`{"name": "a", "type": "plan_execute_and_reflect", "llm": {"model_id": "m"}` + members + `}`)}
}

// TestKeysOfAnAgent tests single keys of agents and connectors: text that
// the files must and must not contain, and the text of a note.
func TestKeysOfAnAgent(t *testing.T) {
	const key = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEf"
	tests := []struct {
		name               string
		agent, connector   string // "" for no connector
		want, never, noted string
	}{
		{
			"a tool that is not selected says so", `, "tools": [{"type": "ListIndexTool"}, {"type": "SearchIndexTool"}], "parameters": {"selected_tools": ["ListIndexTool"]}`, "",
			"  # pex:ignore PEX090 selected_tools leaves it out\n  SearchIndexTool:", "", "",
		},
		{
			"a server's tool is selected by its name there", `, "tools": [{"type": "ListIndexTool"}], "parameters": {"selected_tools": ["echo"], "mcp_connectors": [{"mcp_connector_id": "s"}]}`, "",
			"tools: [s__echo]", "", "taken for one of a tool server's: [s__echo]",
		},
		{
			"a server that does not offer it is not asked", `, "tools": [{"type": "ListIndexTool"}], "parameters": {"selected_tools": ["ListIndexTool", "echo"], "mcp_connectors": [{"mcp_connector_id": "s", "tool_filters": ["^get_"]}]}`, "",
			"tools: [ListIndexTool]", "s__echo", "no tool of the agent is called so",
		},
		{"a scratch pad needs a memory", `, "tools": [{"type": "WriteToScratchPadTool"}]`, "", "backend: badger", "history:", "no memory and a scratch pad"},
		{"without memory there is no history to show", `, "parameters": {"planner_with_history_template": "${parameters.user_prompt}"}`, "", "backend: none", "planner_with_history_template", "this template is never used"},
		{"nor one to count", `, "parameters": {"message_history_limit": "5"}`, "", "backend: none", "message_history_limit", "no earlier turn is ever shown"},
		{"with memory it is counted", `, "memory": {"type": "conversation_index"}, "parameters": {"message_history_limit": "5"}`, "", "message_history_limit: 5", "", ""},
		{
			"what is no reference stays text", `, "parameters": {"planner_prompt": "a ${parameters.b c: and ${parameters.user_prompt} and ${parameters.x"}`, "",
			"a $${parameters.b c: and ${parameters.user_prompt} and $${parameters.x", "", "is no reference there",
		},
		{"an index that no tool takes", `, "tools": [{"type": "SearchIndexTool", "parameters": {"index": "&a"}}]`, "", "", "indices:", ""},
		{"a merge key is a name", `, "parameters": {"mcp_connectors": [{"mcp_connector_id": "s", "tool_descriptions": [{"<<": "x"}]}]}`, "", `"<<":`, "", ""},
		{"tools of the cluster alone have one variable", `, "tools": [{"type": "PPLTool"}]`, "", "", "OPENSEARCH_USER", "set OPENSEARCH_URL and OPENSEARCH_BASIC_AUTH"},
		{"a key in a prompt", `, "parameters": {"planner_prompt": "Use ` + key + `."}`, "", "Use [removed].", key, "no prompt should hold one"},
		{"a password of a tool", `, "tools": [{"type": "PPLTool", "parameters": {"password": "hunter2"}}]`, "", "password: ${env.PASSWORD}", "hunter2", "set the environment variable PASSWORD"},
		{"a key of a tool", `, "tools": [{"type": "PPLTool", "parameters": {"thing": "` + key + `"}}]`, "", "thing: ${env.THING}", key, "set the environment variable THING"},
		{"a token that a prompt names", `, "parameters": {"api_token": "hunter2", "planner_prompt": "Use ${parameters.api_token}."}`, "", "required: true", "hunter2", "looks like a secret"},
		{
			"secrets of a connector", "",
			`"parameters": {"model": "m", "key": "hunter2"}, "actions": [{"action_type": "predict", "method": "POST", "url": "https://u:hunter2@a.example/gen?api_key=hunter2&v=1",
			  "headers": {"Authorization": "Bearer hunter2", "X-Key": "${parameters.key}", "X-Y": "` + key + `"}, "request_body": "{\"prompt\": \"${parameters.prompt}\", \"token\": \"hunter2\"}"}]`,
			"url: https://a.example/gen?api_key=${env.M_API_KEY}&v=1", "hunter2", "set the environment variable that replaces it",
		},
		{
			"a key of a known form in a header", "", `"actions": [{"action_type": "predict", "method": "POST", "url": "https://a.example/gen", "headers": {"X-Y": "` + key + `"}, "request_body": "{\"prompt\": \"${parameters.prompt}\"}"}]`,
			"X-Y: ${env.M_X_Y}", key, "",
		},
		{
			"credentials in a header of another name", "", `"actions": [{"action_type": "predict", "method": "POST", "url": "https://a.example/gen", "headers": {"X-Up": "Bearer abcdefg1234567"}, "request_body": "{\"prompt\": \"${parameters.prompt}\"}"}]`,
			"X-Up: Bearer ${env.M_X_UP}", "abcdefg", "",
		},
		{
			"what is filled in later is no secret", "", `"credential": {"k": "x"}, "actions": [{"action_type": "predict", "method": "POST", "url": "https://a.example/gen", "headers": {"Authorization": "Bearer ${credential.k}"}, "request_body": "{\"prompt\": \"${parameters.prompt}\"}"}]`,
			"Authorization: Bearer ${env.K}", "", "",
		},
		{
			"a model whose credentials are those of AWS", "", `"credential": {"access_key": "{{ _.a }}", "secret_key": "{{ _.s }}"}, "parameters": {"region": "<R>", "service_name": "<SERVICE>"}, "actions": [{"action_type": "predict", "method": "POST", "url": "<URL>"}]`,
			"provider: bedrock", "", "says it, or options.region",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var connectors []convert.Input
			if tc.connector != "" {
				connectors = append(connectors, convert.Input{Name: "model.json", Text: []byte(`{"name": "m", "protocol": "http", ` + tc.connector + `}`)})
			}
			made, err := opensearch.Convert(agentOf(tc.agent), connectors...)
			if err != nil {
				t.Fatal(err)
			}
			var written strings.Builder
			for _, f := range made.Files {
				written.Write(f.Text)
			}
			if !strings.Contains(written.String(), tc.want) {
				t.Errorf("%q is not in\n%s", tc.want, written.String())
			}
			if tc.never != "" && strings.Contains(written.String(), tc.never) {
				t.Errorf("%q is in\n%s", tc.never, written.String())
			}
			if tc.noted != "" && !slices.ContainsFunc(made.Notes, func(n convert.Note) bool { return strings.Contains(n.What, tc.noted) }) {
				t.Errorf("no note says %q: %v", tc.noted, made.Notes)
			}
		})
	}
}
