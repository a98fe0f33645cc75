package plan_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"

	"github.com/pexctl/pex/engine/plan"
)

func TestStepMayBeAString(t *testing.T) {
	var p plan.Plan
	if err := json.Unmarshal([]byte(`{"version": 2, "steps": ["look", {"id": "s2", "goal": "tell", "depends_on": ["s1"]}]}`), &p); err != nil {
		t.Fatal(err)
	}
	if p.Version != 2 || p.Steps[0].Goal != "look" || p.Steps[1].ID != "s2" || p.Steps[1].DependsOn[0] != "s1" {
		t.Errorf("%+v", p)
	}
}

// The usage of a step sums its calls, but for the time until the first token.
func TestStepUsageOfCalls(t *testing.T) {
	var u plan.StepUsage
	u.AddCall(&model.Reply{Usage: model.Tokens{Input: 5, Cached: 2}, Latency: 2 * time.Second, FirstToken: 300 * time.Millisecond})
	u.AddCall(&model.Reply{Usage: model.Tokens{Input: 1, Output: 4}, Latency: time.Second, FirstToken: 200 * time.Millisecond})
	if want := (plan.StepUsage{ModelCalls: 2, Tokens: model.Tokens{Input: 6, Output: 4, Cached: 2}, LatencyMS: 3000, FirstTokenMS: 300}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
}
