//go:build e2e

package temporal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/worker"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/temporaltest"
	"github.com/pexctl/pex/providers/temporal"
	"github.com/pexctl/pex/providers/temporal/attribute"
	"github.com/pexctl/pex/providers/temporal/dial"
	"github.com/pexctl/pex/providers/temporal/payload"
)

// once reports a call that was made more often than once, or another number of calls.
func (c *counter) once(t *testing.T, want int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) != want {
		t.Errorf("%d calls, want %d", len(c.calls), want)
	}
	for key, n := range c.calls {
		if n != 1 {
			t.Errorf("%s was called %d times", key, n)
		}
	}
}

// world is a server with one worker, which keeps no execution in memory: each workflow task replays
// the history.
type world struct {
	*temporal.Driver
	program *engine.Program
	host    engine.Host
	worker  *temporal.Worker
}

func newWorld(t *testing.T, node nodeFunc, tools ...tool.Binding) *world {
	t.Helper()
	s := temporaltest.Start(t)
	store, err := blob.Open("file://"+t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	codec := payload.New(payload.Options{Store: store})
	conn, err := dial.Dial(t.Context(), dial.Settings{Environ: s.Environ("default"), Identity: "test", Configure: codec.Configure})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := attribute.Create(t.Context(), conn.Client.OperatorService(), conn.Namespace); err != nil {
		t.Fatal(err)
	}
	w := &world{Driver: &temporal.Driver{Client: conn.Client, Namespace: conn.Namespace}, program: programOf(node), host: engine.Host{Tools: tools}}
	w.worker, err = temporal.New(temporal.Options{
		Client: conn.Client, Codec: codec, Workflows: true, Tools: true, Memory: true, Cache: -1, Virtual: true,
		Env: func([]byte) (runs.Env, error) {
			return runs.Env{
				Compile: func(engine.Start, ...string) (*engine.Program, error) { return w.program, nil },
				Connect: func(*engine.Program, engine.Input) (engine.Host, error) { return w.host, nil },
			}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.worker.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

func input(run string) engine.Input {
	return engine.Input{RunID: run, Parameters: map[string]any{"question": "q"}, Origin: &engine.Origin{}}
}

// start starts a run.
func (w *world) start(t *testing.T, run string, maxEvents int) {
	t.Helper()
	if err := w.Start(t.Context(), temporal.NewRun{Program: w.program, Input: input(run), MaxEvents: maxEvents}); err != nil {
		t.Fatal(err)
	}
}

// agrees compares the result of a run with that of a local one, and its journal if it had one execution: each
// further one leaves a marker.
func (w *world) agrees(t *testing.T, run string, executions int) {
	t.Helper()
	result, lines, err := w.Wait(t.Context(), "", run)
	if err != nil {
		t.Fatal(err)
	}
	j := &journal.Memory{RoundTrip: true}
	local := runtime.Run(t.Context(), w.program, input(run), w.host, runtime.Options{Journal: j, Virtual: true})
	var want []byte
	var c journal.Chain
	for i := range j.Records {
		if want, c, err = journal.AppendLine(want, &j.Records[i], c); err != nil {
			t.Fatal(err)
		}
	}
	if executions == 1 && !bytes.Equal(want, lines) {
		t.Errorf("the journal has %d bytes, that of a local run %d: they differ", len(lines), len(want))
	}
	if got := string(jsonvalue.Encode(local)); got != string(result) {
		t.Errorf("result %s\nlocal  %s", result, got)
	}
}

// executions returns the histories of all executions of a run, from the last to the first, and replays them.
func (w *world) executions(t *testing.T, run string) (n int) {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.worker.RegisterWorkflow(r)
	for id := ""; ; n++ {
		h := &history.History{}
		for events := w.Client.GetWorkflowHistory(t.Context(), temporal.WorkflowID("", run), id, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			e, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			h.Events = append(h.Events, e)
		}
		if err := r.ReplayWorkflowHistory(quiet(), h); err != nil {
			t.Errorf("replay of execution %d from the end: %v", n, err)
		}
		if id = h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); id == "" {
			return n + 1
		}
	}
}

func TestE2ELongRunsContinueInNewExecutions(t *testing.T) {
	for _, tc := range []struct{ calls, sideBySide, maxEvents, executions int }{
		{600, 5, 500, 4},
		{3000, 10, 2000, 5},
		{40, 40, 0, 1},
	} {
		t.Run(fmt.Sprint(tc.calls), func(t *testing.T) {
			c := &counter{effect: tool.WriteEffect, calls: map[string]int{}}
			w := newWorld(t, calls(tc.calls, tc.sideBySide), tool.Binding{Spec: &tool.Spec{Name: "count"}, Tool: c})
			began := time.Now()
			w.start(t, "r", tc.maxEvents)
			if _, _, err := w.Wait(t.Context(), "", "r"); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d calls, %d side by side: %s", tc.calls, tc.sideBySide, time.Since(began).Round(time.Millisecond))
			c.once(t, tc.calls)
			n := w.executions(t, "r")
			t.Logf("%d executions", n)
			if n < tc.executions || tc.executions == 1 && n > 1 {
				t.Errorf("%d executions, want %d", n, tc.executions)
			}
			w.agrees(t, "r", n)
		})
	}
}

func TestE2ELargeResults(t *testing.T) {
	const size = 2_500_000
	c := &counter{effect: tool.ReadEffect, size: size, calls: map[string]int{}}
	w := newWorld(t, calls(2, 2), tool.Binding{Spec: &tool.Spec{Name: "count", MaxOutputBytes: 2 * size}, Tool: c})
	w.start(t, "r", 0)
	w.agrees(t, "r", 1)
}

// Answers and cancellations that arrive together: one decision each, and no request hangs.
func TestE2EAnAnswerRacesACancellation(t *testing.T) {
	w := newWorld(t, asks)
	answered, cancelled := 0, 0
	for i := range races {
		run := fmt.Sprintf("r%d", i)
		w.start(t, run, 0)
		w.untilWaiting(t, run)
		var both sync.WaitGroup
		var decided error
		both.Go(func() {
			decided = w.Decide(t.Context(), "", run, map[string]json.RawMessage{"q": json.RawMessage(`{"do":"text","text":"this"}`)}, nil, engine.Actor{})
		})
		both.Go(func() {
			if err := w.Cancel(t.Context(), "", run, engine.Actor{}); err != nil {
				if _, refused := errors.AsType[*temporal.RefusedError](err); !refused && !errors.Is(err, temporal.ErrNotFound) {
					t.Error(err)
				}
			}
		})
		both.Wait()
		result, lines, err := w.Wait(t.Context(), "", run)
		if err != nil {
			t.Fatal(err)
		}
		var res engine.Result
		if err := json.Unmarshal(result, &res); err != nil {
			t.Fatal(err)
		}
		inJournal := bytes.Count(lines, []byte(`"text":"this"`)) > 0
		if (decided == nil) != inJournal {
			t.Fatalf("%s: the answer was accepted: %v, and is in the journal: %v", run, decided == nil, inJournal)
		}
		if res.Status == "completed" {
			answered++
		} else {
			cancelled++
		}
	}
	t.Logf("%d answered, %d cancelled", answered, cancelled)
}

const races = 1000

func (w *world) untilWaiting(t *testing.T, run string) {
	t.Helper()
	for {
		s, err := w.State(t.Context(), "", run)
		if err != nil {
			t.Fatal(err)
		}
		if s.Waiting {
			return
		}
	}
}

// Histories of this version, for TestHistoriesReplay of later ones: PEX_GOLDEN=update records them.
func TestE2EHistoriesAreRecorded(t *testing.T) {
	if os.Getenv("PEX_GOLDEN") != "update" {
		t.Skip("with PEX_GOLDEN=update only")
	}
	for name, node := range recorded {
		c := &counter{effect: tool.WriteEffect, calls: map[string]int{}}
		w := newWorld(t, node, tool.Binding{Spec: &tool.Spec{Name: "count"}, Tool: c})
		w.start(t, "r", 0)
		if name == "question" {
			w.untilWaiting(t, "r")
			if err := w.Decide(t.Context(), "", "r", map[string]json.RawMessage{"q": json.RawMessage(`{"do":"text","text":"this"}`)}, nil, engine.Actor{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := w.Wait(t.Context(), "", "r"); err != nil {
			t.Fatal(err)
		}
		h := &history.History{}
		for events := w.Client.GetWorkflowHistory(t.Context(), temporal.WorkflowID("", "r"), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			e, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			h.Events = append(h.Events, e)
		}
		b, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "histories", name+".json"), append(b, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
