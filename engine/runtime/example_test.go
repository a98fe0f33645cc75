package runtime_test

import (
	"context"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
)

// greeter is a model that greets.
type greeter struct{}

// Generate implements model.Model.
func (greeter) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	return &model.Reply{Text: "Hello, " + req.Messages[0].Text.String() + "!", Stop: model.EndTurn, Usage: model.Tokens{Input: 5, Output: 3}}, nil
}

// greet is a node that makes one model call and answers with its reply.
type greet struct{}

// Run implements engine.Node.
func (greet) Run(s engine.Scope) error {
	who := model.Message{Role: model.User, Text: model.Text{s.View().State.Question}}
	reply, err := s.Model("model", model.Call{Role: "greeter", LLM: "main", Messages: []model.Message{who}})
	if err != nil {
		return err
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: reply.Text}})
	return nil
}

// A Program usually comes from dsl.Compile. This one is built by hand: a graph with one
// node.
func ExampleRun() {
	p := &engine.Program{
		Name: "hello", Digest: "sha256:hello",
		Models: []engine.ModelSpec{{Name: "main"}},
		Graph:  &graph.Graph[engine.Condition]{Start: "greet", Nodes: []graph.Node{{ID: "greet", Type: "greet"}}},
		Nodes:  map[string]engine.Node{"greet": greet{}},
		Memory: engine.MemorySettings{Backend: "none"},
	}
	in := engine.Input{RunID: "r1", Parameters: map[string]any{"question": "world"}}
	host := engine.Host{Models: map[string]model.Model{"main": greeter{}}}

	res := runtime.Run(context.Background(), p, in, host, runtime.Options{})
	fmt.Println(res.Status, res.Response, res.Usage.Total())
	// Output: completed Hello, world! 8
}
