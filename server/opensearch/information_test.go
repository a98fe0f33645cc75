package opensearch_test

import (
	"fmt"
	"strings"
	"testing"
)

// Clients cannot store so much about a conversation, or such names, that others cannot list
// conversations any more.
func TestInformationAboutConversations(t *testing.T) {
	w := newWorld(t)
	w.want(200, "ann", "POST", "/memory", `{"name": "a"}`)
	id := w.ids["memory_id"]
	w.want(200, "ann", "POST", "/memory", `{"name": "b"}`)
	w.want(200, "rob", "PUT", "/memory/{memory_id}", `{"name": "c", "memory_id": 1, "create_time": {}, "other": true}`)
	list := w.want(200, "ann", "GET", "/memory?max_results=9223372036854775807&next_token=1", "")
	list += w.want(200, "ann", "GET", "/memory?max_results=1", "")
	if !strings.Contains(list, id) || !strings.Contains(list, `"name":"c"`) || strings.Contains(list, "other") {
		t.Error(list)
	}
	status := 200
	for n := 0; n < 10 && status == 200; n++ {
		status, _ = w.do("rob", "PUT", "/memory/{memory_id}", fmt.Sprintf(`{"additional_info": {"k%d": "%s"}}`, n, strings.Repeat("x", 2_000)))
	}
	if status != 400 {
		t.Errorf("a large memory: %d", status)
	}
}

// An agent that cannot run any more exists for those who may view the agents.
func TestBrokenAgentsOfOtherClients(t *testing.T) {
	w := newWorld(t)
	w.register()
	w.policy.Endpoints = nil
	w.open()
	w.want(200, "vic", "GET", "/agents/{agent_id}", "")
	w.want(404, "nia", "GET", "/agents/{agent_id}", "")
	if response := w.want(404, "nia", "POST", "/agents/{agent_id}/_execute", question); strings.Contains(response, "endpoints") {
		t.Error(response)
	}
}

// The cost of a filter does not grow exponentially with the depth of what it filters.
func TestFiltersOfDeepDocuments(t *testing.T) {
	w := newWorld(t)
	const depth = 90
	w.want(200, "ann", "POST", "/memory", `{"additional_info": `+strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)+`}`)
	w.want(200, "ann", "GET", "/memory/{memory_id}?filter_path="+strings.Repeat("**.a.", depth)+"b", "")
	w.want(200, "ann", "GET", "/memory/{memory_id}?filter_path=-"+strings.Repeat("**.a.", depth)+"b", "")
	w.want(400, "ann", "GET", "/memory/{memory_id}?filter_path="+strings.Repeat("**,", 1_000), "")
}
