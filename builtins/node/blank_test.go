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

// blank answers with an empty text, as JSON.
type blank struct{}

func (blank) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return &model.Reply{Text: `{"steps": [], "result": "\"\""}`, Stop: model.EndTurn}, nil
}

// An answer that is empty under a schema that takes any text ends no run: its
// edges ask for a result, and the reflector would be asked for ever.
func TestAnEmptyAnswerIsAskedForAgain(t *testing.T) {
	p := perProgram(t)
	p.Output = &engine.Output{Schema: component.SchemaRef{JSON: json.RawMessage(`{"type":"string"}`)}, MaxAttempts: 2}
	s := enginetest.NewScope(t.Context(), p, perInput, engine.Host{Models: map[string]model.Model{"main": blank{}}})
	s.Record(engine.PlanTaken{Steps: []plan.Step{{ID: "s1", Goal: "a"}}, Planner: "planner"})
	s.Record(engine.StepEnded{Record: plan.StepRecord{ID: "s1", Status: plan.OK, Result: "done"}})
	err := p.Nodes["reflector"].Run(s)
	end, stopped := errors.AsType[*stop.Error](err)
	if calls := s.View().State.Usage.ModelCalls; !stopped || end.Reason.Code != stop.OutputInvalid || calls != 3 {
		t.Errorf("ended with %v after %d calls", err, calls)
	}
}
