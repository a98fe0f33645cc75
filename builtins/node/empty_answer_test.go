package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// blank is a model that replies with an empty JSON string.
type blank struct{}

func (blank) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return &model.Reply{Text: `{"steps": [], "result": "\"\""}`, Stop: model.EndTurn}, nil
}

// An empty answer would satisfy a schema that accepts any string, but the graph's edges
// require a result, so the reflector would run forever.
func TestEmptyAnswerIsRequestedAgain(t *testing.T) {
	p := perProgram(t)
	p.Output = &engine.Output{Schema: component.SchemaRef{JSON: json.RawMessage(`{"type":"string"}`)}, MaxAttempts: 2}
	s := enginetest.NewScope(t.Context(), p, perInput, engine.Host{Models: map[string]model.Model{"main": blank{}}})
	s.Record(engine.PlanAccepted{Steps: []plan.Step{{ID: "s1", Goal: "a"}}, Planner: "planner"})
	s.Record(engine.StepEnded{Record: plan.StepRecord{ID: "s1", Status: plan.OK, Result: "done"}})
	err := p.Nodes["reflector"].Run(s)
	end, stopped := errors.AsType[*stop.Error](err)
	if calls := s.View().State.Usage.ModelCalls; !stopped || end.Reason.Code != stop.OutputInvalid || calls != 3 {
		t.Errorf("got error %v after %d calls", err, calls)
	}
}
