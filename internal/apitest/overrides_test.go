package apitest_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/server/agents"
)

// A client overrides only what the agent allows, for new runs, forks and resumed runs.
func TestAgentsLimitOverrides(t *testing.T) {
	w := desk(t)
	spec := filepath.Join(w.dir, "desk")
	if err := w.agents.Reload([]agents.Definition{
		{Name: "open", Spec: spec}, {Name: "steps", Spec: spec, AllowSet: []string{"limits.max_steps", "llms.*.model"}}, {Name: "closed", Spec: spec, AllowSet: []string{}},
	}); err != nil {
		t.Fatal(err)
	}
	post := func(path, body string) (int, string) {
		res := w.do("root", "POST", path, http.Header{"Prefer": {"wait=30"}}, body)
		return res.Code, res.Body.String()
	}
	for agent, want := range map[string]map[string]int{
		"open":   {"limits.max_steps=3": 200, "limits.max_tokens=9000": 200, "llms.main.model=x": 200, "planner.llm=x": 403},
		"steps":  {"limits.max_steps=3": 200, "limits.max_tokens=9000": 403, "llms.main.model=x": 200, "limits.max_steps=${env.HOME}": 403, "llms.main.model.x=1": 403},
		"closed": {"limits.max_steps=3": 403, "llms.main.model=x": 403},
	} {
		if status, body := post("/v1/agents/"+agent+"/runs", `{"question": "How much?", "run_id": "of-`+agent+`"}`); status != 200 {
			t.Fatal(status, body)
		}
		for set, status := range want {
			set = `"set": ["` + set + `"]`
			if got, body := post("/v1/agents/"+agent+"/runs", `{"question": "How much?", `+set+`}`); got != status {
				t.Errorf("%s: %s: %d %s", agent, set, got, body)
			} else if got == 403 && !strings.Contains(body, `"pointer":"/set/0","allowed":[`) {
				t.Errorf("%s: %s: %s", agent, set, body)
			}
			if got, body := post("/v1/runs/of-"+agent+"/resume", `{`+set+`}`); (got == 403) != (status == 403) {
				t.Errorf("resume %s: %s: %d %s", agent, set, got, body)
			}
			if got, body := post("/v1/runs/of-"+agent+"/fork", `{"at": "step.s1", `+set+`}`); (got == 403) != (status == 403) {
				t.Errorf("fork %s: %s: %d %s", agent, set, got, body)
			}
		}
	}
	if _, body := post("/v1/agents/closed/runs", `{"question": "How much?", "set": ["limits.max_steps=3"]}`); !strings.Contains(body, "the agent allows no overrides") {
		t.Error(body)
	}
}

// A repeated fork is the same run.
func TestARepeatedForkIsTheSameRun(t *testing.T) {
	w := desk(t)
	key := http.Header{"Idempotency-Key": {"again"}}
	fork := func(body string) (int, string) {
		res := w.do("root", "POST", "/v1/runs/r-1/fork", key, body)
		return res.Code, res.Header().Get("Location")
	}
	first, at := fork(`{"at": "step.s1"}`)
	second, again := fork(`{"at": "step.s1"}`)
	if first != 201 || second != 200 || at != again || !strings.HasPrefix(at, "/v1/runs/k-") {
		t.Errorf("%d %s, %d %s", first, at, second, again)
	}
	if status, _ := fork(`{"at": "plan.1"}`); status != 422 {
		t.Errorf("another request: %d", status)
	}
	if status, _ := fork(`{"at": "step.s1", "run_id": "x"}`); status != 422 {
		t.Errorf("with a run_id: %d", status)
	}
	if res := w.do("root", "POST", "/v1/agents/desk/runs", key, `{"question": "How much?"}`); res.Code != 201 {
		t.Errorf("a new run with this key: %d %s", res.Code, res.Body)
	}
}
