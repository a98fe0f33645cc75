package engine_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/interrupt"
)

// confirm is a node that asks a human and records the answer as that of the run. It has
// no state of its own: a resumed run calls Run again, and Ask returns the journaled
// decision.
type confirm struct{ question string }

var _ engine.Node = confirm{}

// Run implements engine.Node.
func (c confirm) Run(s engine.Scope) error {
	s = s.Child(s.Nth("confirm")) // each visit of the node needs its own path
	d, err := s.Ask("ask", interrupt.Question{Kind: interrupt.Human, Question: c.question})
	if err != nil {
		return err
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: d.Do}})
	return nil
}

// approver is a Responder that approves every question.
type approver struct{}

// Ask implements interrupt.Responder.
func (approver) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	fmt.Println(q.Path, q.Question)
	return json.Marshal(interrupt.Parse("yes"))
}

func ExampleNode() {
	s := enginetest.NewScope(context.Background(), &engine.Program{}, engine.Input{}, engine.Host{Responder: approver{}})
	err := confirm{"Deploy?"}.Run(s)
	fmt.Println(s.View().State.Answer.Text, err)
	// Output:
	// confirm.1/ask Deploy?
	// approve <nil>
}
