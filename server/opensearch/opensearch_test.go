package opensearch_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
)

// The requests of the tutorial, from the connector to the traces.
func TestWalkthrough(t *testing.T) {
	w := newWorld(t)
	w.register()
	delete(w.ids, "task_id")
	w.want(200, "root", "POST", "/models/{model_id}/_deploy", "")
	w.want(200, "root", "GET", "/tasks/{task_id}", "")
	delete(w.ids, "task_id")
	for _, path := range []string{"/connectors/{connector_id}", "/models/{model_id}", "/agents/{agent_id}?pretty=true"} {
		w.want(200, "vic", "GET", path, "")
	}
	w.want(200, "ann", "POST", "/agents/{agent_id}/_execute?async=true", question)
	w.await()
	w.want(200, "ann", "GET", "/tasks/{task_id}", "")
	w.want(200, "ann", "GET", "/memory/{memory_id}/messages", "")
	w.want(200, "ann", "GET", "/memory/{memory_id}/executor/messages", "")
	w.want(200, "ann", "GET", "/memory/message/{parent_interaction_id}", "")
	w.want(200, "ann", "GET", "/memory/message/{parent_interaction_id}/traces", "")
	w.want(200, "ann", "POST", "/agents/{agent_id}/_execute/", `{"parameters": {"question": "And now?", "memory_id": "{memory_id}", "include_token_usage": true}}`)
	w.want(200, "ann", "POST", "/agents/{agent_id}/_execute/stream", question)
	w.want(200, "ann", "GET", "/memory/?max_results=1", "")
	w.want(200, "ann", "GET", "/", "")
	goldentest.File(t, "walkthrough.golden", w.log.String())
}

func TestDocuments(t *testing.T) {
	w := newWorld(t)
	w.register()
	w.want(409, "root", "DELETE", "/connectors/{connector_id}", "")
	w.want(409, "root", "DELETE", "/models/{model_id}", "")
	w.want(200, "root", "PUT", "/agents/{agent_id}", `{"name": "Another", "app_type": null}`)
	w.want(200, "root", "POST", "/agents/_search?filter_path=hits.total,hits.hits._source.name", `{"query": {"bool": {"must": [{"match": {"name": "another agent"}}], "must_not": {"term": {"type": "flow"}}}}}`)
	w.want(200, "root", "GET", "/agents/_search?filter_path=hits.hits._id,-**.none", `{"query": {"term": {"_id": "hello"}}}`)
	w.want(200, "root", "GET", "/agents/_search?filter_path=**.value", "")
	w.want(200, "ann", "POST", "/memory/", `{"name": "A conversation"}`)
	w.want(200, "ann", "POST", "/agents/{agent_id}/_execute?filter_path=**.response", `{"parameters": {"question": "How many?", "memory_id": "{memory_id}", "planner_prompt": "Plan in one step."}}`)
	w.want(200, "ann", "POST", "/memory/_search?filter_path=hits.hits._source.name", `{"query": {"match_all": {}}}`)
	w.want(200, "ann", "POST", "/tasks/_search?filter_path=hits.hits._source.state", `{"query": {"term": {"agent_id": "{agent_id}"}}}`)
	w.want(200, "vic", "GET", "/tools/ListIndexTool", "")
	w.want(200, "root", "DELETE", "/memory/{memory_id}", "")
	w.want(404, "ann", "GET", "/memory/{memory_id}", "")
	w.want(200, "root", "DELETE", "/agents/{agent_id}", "")
	w.want(404, "ann", "POST", "/agents/{agent_id}/_execute", question)
	w.want(200, "root", "DELETE", "/models/{model_id}", "")
	w.want(200, "root", "DELETE", "/connectors/{connector_id}", "")
	goldentest.File(t, "documents.golden", w.log.String())
	if asked := strings.Join(w.model.Asked(), "\n"); !strings.Contains(asked, "Plan in one step.") {
		t.Error("the model did not receive the prompt of the request:", asked)
	}
}

// What is wrong gets the error of ML Commons, and nothing is stored or started.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	w.register()
	w.log.Reset()
	with := func(body, old, new string) string { return strings.Replace(body, old, new, 1) }
	for _, c := range []struct {
		status               int
		client, method, path string
		body                 string
	}{
		{400, "root", "POST", "/connectors/_create", with(connector, "<YOUR_KEY>", "abc-123")},
		{400, "root", "POST", "/connectors/_create", with(connector, `Bearer ${credential.openAI_key}`, "Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH")},
		{400, "root", "POST", "/connectors/_create", `{"name": ""}`},
		{403, "ann", "POST", "/connectors/_create", connector},
		{403, "ann", "DELETE", "/agents/{agent_id}", ""},
		{400, "root", "POST", "/models/_register", `{"name": "bert", "function_name": "TEXT_EMBEDDING"}`},
		{404, "root", "POST", "/models/_register", `{"name": "m", "function_name": "remote", "connector_id": "none"}`},
		{404, "root", "POST", "/agents/_register", with(agent, "{model_id}", "none")},
		{400, "root", "POST", "/agents/_register", with(agent, "plan_execute_and_reflect", "flow")},
		{400, "root", "POST", "/agents/_register", with(agent, "this is a test agent", "${env.HOME}")},
		{400, "root", "POST", "/agents/_register", with(agent, `{"type": "ListIndexTool"}`, `{"type": "WebSearchTool"}`)},
		{403, "root", "DELETE", "/agents/hello", ""},
		{404, "root", "PUT", "/agents/none", `{"name": "x"}`},
		{404, "ann", "POST", "/agents/none/_execute", question},
		{404, "eve", "POST", "/agents/{agent_id}/_execute", question},
		{404, "eve", "GET", "/agents/{agent_id}", ""},
		{403, "vic", "POST", "/agents/{agent_id}/_execute", question},
		{400, "ann", "POST", "/agents/{agent_id}/_execute", `{"parameters": {}}`},
		{400, "ann", "POST", "/agents/{agent_id}/_execute", `[]`},
		{400, "ann", "POST", "/agents/{agent_id}/_execute", `{"parameters": {"question": "a", "question": "b"}}`},
		{404, "ann", "POST", "/agents/{agent_id}/_execute", `{"parameters": {"question": "a", "memory_id": "none"}}`},
		{400, "ann", "POST", "/agents/{agent_id}/_execute", `{"input": [{"type": "image", "source": {}}]}`},
		{400, "ann", "POST", "/agents/{agent_id}/_execute", `{"threadId": "t"}`},
		{400, "ann", "POST", "/agents/{agent_id}/_execute", `{"parameters": {"question": "a", "planner_prompt": "${env.HOME}"}}`},
		{403, "ann", "POST", "/agents/hello/_execute", `{"parameters": {"question": "a", "planner_prompt": "Be short."}}`},
		{400, "ann", "POST", "/agents/hello/_execute", `{"parameters": {"question": "a", "max_steps": "many"}}`},
		{413, "ann", "POST", "/agents/{agent_id}/_execute", `{"input": "` + strings.Repeat("x", 100_000) + `"}`},
		{404, "ann", "GET", "/tasks/none", ""},
		{404, "ann", "POST", "/tasks/none/_cancel", ""},
		{404, "ann", "GET", "/memory/none/messages", ""},
		{413, "ann", "POST", "/memory", `{"name": "` + strings.Repeat("x", 5_000) + `"}`},
		{404, "ann", "GET", "/memory/message/none/traces", ""},
		{400, "ann", "POST", "/agents/_search", `{"query": {"range": {}}}`},
		{400, "ann", "GET", "/nothing", ""},
		{501, "ann", "POST", "/models/{model_id}/_predict", `{}`},
		{501, "ann", "GET", "/stats", ""},
		{501, "ann", "POST", "/memory_containers/_create", `{}`},
	} {
		w.want(c.status, c.client, c.method, c.path, c.body)
	}
	log := regexp.MustCompile("x{900,}").ReplaceAllString(w.log.String(), "xxx...")
	goldentest.File(t, "errors.golden", log)
	if n := w.Runs(); n != 0 {
		t.Errorf("%d runs were started", n)
	}
}

// A registered agent exists after a restart, in its tenant only, and loses nothing but what the
// policy no longer allows.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	w.register()
	w.open()
	w.want(200, "ann", "POST", "/agents/{agent_id}/_execute", question)
	if _, ok := w.Tenant("other").Agents.Get(w.ids["agent_id"]); ok {
		t.Error("another tenant has the agent")
	}
	w.policy.Endpoints = nil
	w.open()
	if response := w.want(400, "ann", "POST", "/agents/{agent_id}/_execute", question); !strings.Contains(response, "endpoints:") {
		t.Error(response)
	}
	w.want(200, "root", "DELETE", "/agents/{agent_id}", "")
}

// A run that asks is a running task with its question; its answer ends the task.
func TestQuestions(t *testing.T) {
	w := newWorld(t)
	w.want(200, "rob", "POST", "/agents/refund-desk/_execute?async=true", "{}")
	w.await()
	w.want(200, "rob", "GET", "/tasks/{task_id}?filter_path=state,response.interrupts", "")
	w.want(200, "rob", "POST", "/tasks/{task_id}/_cancel", "")
	w.cancelled()
	w.want(200, "rob", "GET", "/tasks/{task_id}", "")
	w.want(409, "rob", "POST", "/tasks/{task_id}/_cancel", "")
	w.want(200, "rob", "POST", "/agents/refund-desk/_execute", "{}")
	w.want(200, "root", "DELETE", "/tasks/{task_id}", "")
	w.want(404, "rob", "GET", "/tasks/{task_id}", "")
	goldentest.File(t, "questions.golden", w.log.String())
}

// Registered agents reach only what the policy of the server allows.
func TestPolicy(t *testing.T) {
	w := newWorld(t)
	own := `{model}/v1/chat/completions`
	bedrock := strings.NewReplacer(own, "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", `"model": "gpt-4o"`, `"model": "m", "service_name": "bedrock", "region": "x.example.com/#"`).Replace(connector)
	for name, c := range map[string]struct{ connector, agent, want string }{
		"another host": {strings.Replace(connector, own, "http://169.254.169.254/v1/chat/completions", 1), agent, "does not allow registered agents to call http://169.254.169.254/v1"},
		"another path": {strings.Replace(connector, own, "{model}/v2/chat/completions", 1), agent, "does not allow registered agents to call"},
		"up":           {strings.Replace(connector, own, "{model}/v1/../chat/completions", 1), agent, "is not an address"},
		"up by a name": {
			strings.NewReplacer(own, "{model}/v1/$${parameters.up}/chat", `"model": "gpt-4o"`, `"model": "..", "up": "{args.model}"`).Replace(connector), agent, "is not an address",
		},
		"up by dots":           {strings.NewReplacer(own, "{model}/v1/.$${parameters.up}./chat", `"model": "gpt-4o"`, `"model": "m", "up": "{env.OPENAI_KEY}"`).Replace(connector), agent, "is not an address"},
		"an unknown protocol":  {strings.Replace(connector, own, "http://169.254.169.254/latest", 1), agent, "does not allow registered agents to call"},
		"a variable in a path": {strings.Replace(connector, own, "{model}/v1/${credential.part}/chat/completions", 1), agent, "environment variables"},
		"a region":             {bedrock, agent, "is not a region"},
		"a variable":           {strings.Replace(connector, "credential.openAI_key", "credential.aws_secret", 1), agent, "environment variables AWS_SECRET"},
		"a tool server": {
			strings.Replace(connector, `"name": "OpenAI"`, `"name": "OpenAI", "x": 1`, 1),
			strings.Replace(agent, `"_llm_interface"`, `"mcp_connectors": [{"mcp_connector_id": "{mcp}"}], "_llm_interface"`, 1), "does not allow registered agents to call http://10.0.0.1/mcp",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w.t, w.ids = t, map[string]string{}
			w.want(200, "root", "POST", "/connectors/_create", `{"name": "mcp", "protocol": "mcp_streamable_http", "url": "http://10.0.0.1/mcp"}`)
			w.ids["mcp"] = w.ids["connector_id"]
			delete(w.ids, "connector_id")
			w.want(200, "root", "POST", "/connectors/_create", c.connector)
			w.want(200, "root", "POST", "/models/_register", remote)
			if response := w.want(400, "root", "POST", "/agents/_register", c.agent); !strings.Contains(response, c.want) {
				t.Error(response)
			}
		})
	}
}
