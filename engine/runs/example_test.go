package runs_test

import (
	"context"
	"fmt"
	"os"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
)

// A run asks a human, waits in its home, and continues with the answer.
func Example() {
	program := &engine.Program{
		Name: "greeter", Digest: "sha256:1", Source: []byte("{}"),
		Graph: &graph.Graph[engine.Condition]{Start: "greet", Nodes: []graph.Node{{ID: "greet", Type: "example"}}},
		Nodes: map[string]engine.Node{"greet": node(func(s engine.Scope) error {
			d, err := s.Ask("name", interrupt.Question{Kind: interrupt.Human, Question: "What is your name?"})
			if err == nil {
				s.Record(engine.Answered{Answer: engine.Answer{Text: "Hello, " + d.Text}})
			}
			return err
		})},
	}
	dir, err := os.MkdirTemp("", "home")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	service, err := runs.Open(dir, runs.Env{
		Compile: func(engine.Start, ...string) (*engine.Program, error) { return program, nil },
		Connect: func(*engine.Program, engine.Input) (engine.Host, error) { return engine.Host{}, nil },
	})
	if err != nil {
		panic(err)
	}
	finish := func(s *runs.Session, err error) {
		if err != nil {
			panic(err)
		}
		res := s.Run(context.Background(), runs.Observer{})
		if err := s.Close(); err != nil {
			panic(err)
		}
		fmt.Printf("%s: %q\n", res.Status, res.Response)
	}
	finish(service.Start(runs.NewRun{Program: program, Input: engine.Input{RunID: "r-1"}}))
	finish(service.Resume(context.Background(), "r-1", runs.ResumeOptions{Answers: []runs.Answer{{Value: "Ada"}}}))
	// Output:
	// interrupted: ""
	// completed: "Hello, Ada"
}
