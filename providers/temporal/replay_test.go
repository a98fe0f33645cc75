package temporal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/temporal"
)

// nodeFunc is a node.
type nodeFunc func(engine.Scope) error

func (f nodeFunc) Run(s engine.Scope) error { return f(s) }

// programOf returns a program with one node.
func programOf(node nodeFunc) *engine.Program {
	const id = "main"
	source := json.RawMessage(`{"kind":"test"}`)
	return &engine.Program{
		Name: "p", Digest: "sha256:test", Source: source, Memory: engine.MemorySettings{Backend: "none"},
		Graph: &graph.Graph[engine.Condition]{Start: id, Nodes: []graph.Node{{ID: id, Type: id}}}, Nodes: map[string]engine.Node{id: node},
	}
}

// counter is a tool that counts its calls by key.
type counter struct {
	effect tool.Effect
	size   int // of a result

	mu    sync.Mutex
	calls map[string]int
}

func (c *counter) Info() tool.Info {
	return tool.Info{Name: "count", Effect: c.effect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (c *counter) Call(_ context.Context, call *tool.Call) (*tool.Output, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call.Key]++
	return &tool.Output{Text: string(call.Args) + strings.Repeat("x", c.size)}, nil
}

// calls returns a node that makes n calls, so many at the same time.
func calls(n, sideBySide int) nodeFunc {
	return func(s engine.Scope) error {
		for i := 0; i < n; i += sideBySide {
			err := s.Parallel(min(sideBySide, n-i), func(int) string { return "" }, func(k int, s engine.Scope) error {
				_, _, err := s.Tool("tool."+strconv.Itoa(i+k), engine.Invocation{Tool: "count", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i+k))})
				return err
			})
			if err != nil {
				return err
			}
		}
		s.Record(engine.Answered{Answer: engine.Answer{Text: "done"}})
		return nil
	}
}

// asks is a node that answers with what a human says.
func asks(s engine.Scope) error {
	d, err := s.Ask("q", interrupt.Question{Kind: interrupt.Human, Question: "Which?"})
	if err == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: d.Text}})
	}
	return err
}

// quiet is a log that writes nothing.
func quiet() sdklog.Logger {
	return sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
}

// recorded are the nodes of the runs in testdata/histories.
var recorded = map[string]nodeFunc{"calls": calls(6, 3), "question": asks}

// A worker of this version continues the executions that earlier ones began: their histories replay.
func TestHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil || len(files) != len(recorded) {
		t.Fatalf("%d histories, want %d: %v", len(files), len(recorded), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			if err := replay(t, file, recorded[name]); err != nil {
				t.Error(err)
			}
			if replay(t, file, calls(7, 2)) == nil {
				t.Error("the history replays with another program, too")
			}
		})
	}
}

// replay replays a history with a program of one node.
func replay(t *testing.T, file string, node nodeFunc) error {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := client.HistoryFromJSON(strings.NewReader(string(b)), client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{effect: tool.WriteEffect, calls: map[string]int{}}
	w, err := temporal.New(temporal.Options{
		Workflows: true, Virtual: true,
		Env: func([]byte) (runs.Env, error) {
			return runs.Env{
				Compile: func(engine.Start, ...string) (*engine.Program, error) { return programOf(node), nil },
				Connect: func(*engine.Program, engine.Input) (engine.Host, error) {
					return engine.Host{Tools: []tool.Binding{{Spec: &tool.Spec{Name: "count"}, Tool: c}}}, nil
				},
			}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.RegisterWorkflow(r)
	return r.ReplayWorkflowHistory(quiet(), h)
}
