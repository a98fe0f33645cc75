package engine_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

func planOf(ids ...string) []plan.Step {
	out := make([]plan.Step, len(ids))
	for i, id := range ids {
		out[i] = plan.Step{ID: id, Goal: "goal " + id}
	}
	return out
}

func ended(id string, status plan.Status, result string) engine.StepEnded {
	return engine.StepEnded{Record: plan.StepRecord{ID: id, Goal: "goal " + id, Status: status, Result: result}}
}

func after(facts ...engine.Fact) engine.State {
	var s engine.State
	for _, f := range facts {
		s = s.Apply(f)
	}
	return s
}

func ids(steps []plan.Step) []string {
	var out []string
	for _, st := range steps {
		out = append(out, st.ID)
	}
	return out
}

func TestApplyDoesNotChangeTheOldState(t *testing.T) {
	facts := []engine.Fact{
		engine.HistoryRead{Interactions: []memory.Interaction{{ID: "i"}}},
		engine.PlanAccepted{Steps: planOf("s1", "s2", "s3")},
		engine.ReplanRequested{Message: "again"},
		engine.StepStarted{Step: plan.Step{ID: "s2"}, Attempt: 1},
		ended("s2", plan.OK, "two"),
		ended("s1", plan.Failed, ""),
		engine.ModelCalled{Model: "m", Tokens: model.Tokens{Input: 1}, Cost: 2},
		engine.ToolCalled{Step: "s2"},
		engine.WarningAdded{Text: "w"},
		engine.MessagesAdded{Messages: []model.Message{{Role: model.User}}},
		engine.NodeReplied{By: "reflector", Reply: exprenv.Reply{Text: "t"}},
		engine.PlanAccepted{Steps: planOf("s4"), Replan: true},
		engine.WarningAdded{Text: "v"},
		engine.Answered{Answer: engine.Answer{Text: "a"}},
	}
	s := engine.State{Question: "q"}
	for i, f := range facts {
		before, _ := json.Marshal(s)
		next := s.Apply(f)
		_ = s.Apply(facts[(i+5)%len(facts)]) // another fact for the same state
		if now, _ := json.Marshal(s); string(now) != string(before) {
			t.Errorf("%T changed the state it was applied to:\n%s\n%s", f, before, now)
		}
		s = next
	}
}

func TestCallsBelongToTheRunningStep(t *testing.T) {
	call := func(step, bound string) engine.ToolCalled {
		return engine.ToolCalled{Step: step, Record: tool.Record{Tool: bound}}
	}
	started := func(id string, attempt int) engine.StepStarted {
		return engine.StepStarted{Step: plan.Step{ID: id}, Attempt: attempt}
	}
	s := after(engine.PlanAccepted{Steps: planOf("s1", "s2")}, started("s1", 1), started("s2", 1),
		call("s1", "a"), call("s2", "b"), call("", "c"), started("s1", 2), call("s1", "d"))
	one, two := s.Apply(call("s1", "e")), s.Apply(call("s1", "f"))
	got := map[string][]string{}
	for name, s := range map[string]engine.State{"one": one, "two": two} {
		for _, rec := range s.Running {
			for _, c := range rec.ToolCalls {
				got[name+" "+rec.ID] = append(got[name+" "+rec.ID], c.Tool)
			}
		}
	}
	want := map[string][]string{"one s1": {"a", "d", "e"}, "one s2": {"b"}, "two s1": {"a", "d", "f"}, "two s2": {"b"}}
	if diff := cmp.Diff(want, got); diff != "" || one.Usage.ToolCalls != 5 {
		t.Errorf("%d calls counted, want 5; of the steps (-want +got):\n%s", one.Usage.ToolCalls, diff)
	}
}

func TestStatesDerivedFromOneStateAreIndependent(t *testing.T) {
	s := after(engine.PlanAccepted{Steps: planOf("s1", "s2")}, ended("s1", plan.OK, "one"), engine.WarningAdded{Text: "w"})
	one, two := s.Apply(engine.WarningAdded{Text: "one"}), s.Apply(engine.WarningAdded{Text: "two"})
	if one.Warnings[1] != "one" || two.Warnings[1] != "two" {
		t.Errorf("warnings %v and %v", one.Warnings, two.Warnings)
	}
	one, two = s.Apply(ended("s2", plan.OK, "one")), s.Apply(ended("s2", plan.Failed, "two"))
	if one.Steps[1].Result != "one" || two.Steps[1].Result != "two" {
		t.Errorf("steps %v and %v", one.Steps, two.Steps)
	}
}

func TestStepsAreInPlanOrder(t *testing.T) {
	s := after(
		engine.PlanAccepted{Steps: planOf("a", "b", "c", "d")},
		ended("c", plan.OK, "1"), ended("a", plan.OK, "2"), ended("node", plan.OK, "3"), ended("d", plan.OK, "4"), ended("b", plan.OK, "5"),
	)
	var got []string
	for _, rec := range s.Steps {
		got = append(got, rec.ID)
	}
	if i := slices.Index(got, "node"); i < 0 || !slices.Equal(slices.Delete(slices.Clone(got), i, i+1), []string{"a", "b", "c", "d"}) {
		t.Errorf("%v", got)
	}
}

func TestReplanKeepsEndedSteps(t *testing.T) {
	s := after(
		engine.PlanAccepted{Steps: planOf("s1", "s2", "s3")}, ended("s1", plan.OK, "x"), ended("s3", plan.Skipped, ""),
		engine.PlanAccepted{Steps: planOf("s4", "s7"), Replan: true},
	)
	if got := ids(s.Plan.Steps); !slices.Equal(got, []string{"s1", "s3", "s4", "s7"}) {
		t.Errorf("plan %v", got)
	}
	if got := ids(s.Remaining()); !slices.Equal(got, []string{"s4", "s7"}) {
		t.Errorf("remaining %v", got)
	}
	if s.Plan.Version != 2 || s.Replans != 1 || s.HighestStepID != 7 {
		t.Errorf("version %d, replans %d, numbered %d", s.Plan.Version, s.Replans, s.HighestStepID)
	}
}

func TestNoProgressCountsConsecutiveSteps(t *testing.T) {
	same := func(result string) engine.StepEnded {
		return engine.StepEnded{Record: plan.StepRecord{ID: "s", Goal: "g", Status: plan.OK, Result: result}}
	}
	tests := []struct {
		name  string
		facts []engine.Fact
		want  int
	}{
		{"nothing yet", nil, 0},
		{"a step that is fine", []engine.Fact{same("x")}, 0},
		{"a result that was there", []engine.Fact{same("x"), same("x")}, 1},
		{"the same goal with news", []engine.Fact{same("x"), same("y")}, 0},
		{"failures", []engine.Fact{ended("a", plan.Failed, ""), ended("b", plan.Loop, "")}, 2},
		{"a failure made good", []engine.Fact{ended("a", plan.Failed, ""), ended("b", plan.OK, "x")}, 0},
		{"skipped steps do not count", []engine.Fact{ended("a", plan.Failed, ""), ended("b", plan.Skipped, "")}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := after(tt.facts...).NoProgress; got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
