package plan_test

import (
	"encoding/json"
	"testing"

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
