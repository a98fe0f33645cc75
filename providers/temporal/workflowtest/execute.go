package workflowtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/providers/temporal"
)

// Run describes a run to execute.
type Run struct {
	Program *engine.Program
	Host    engine.Host
	Input   engine.Input
	Version string // of pexctl

	// Answer answers the open questions, whenever the run waits for them.
	Answer func([]interrupt.Question) (answers map[string]json.RawMessage, resolve map[string]string)
}

// Outcome is the outcome of a run.
type Outcome struct {
	Result     json.RawMessage // an engine.Result
	Journal    []byte          // lines of a file
	Activities int             // effects that were performed as activities
}

// poll is how often the test looks whether the run waits, in virtual time.
const poll = time.Second

// Execute executes a run as a workflow until it ends.
func Execute(r Run) (out Outcome, err error) {
	start := runtime.StartOf(r.Program, r.Input)
	w, err := temporal.New(temporal.Options{
		Client: historian{start: start}, Virtual: true, Workflows: true,
		Env: func([]byte) (runs.Env, error) {
			return runs.Env{
				Compile: func(engine.Start, ...string) (*engine.Program, error) { return r.Program, nil },
				Connect: func(*engine.Program, engine.Input) (engine.Host, error) { return r.Host, nil },
			}, nil
		},
	})
	if err != nil {
		return out, err
	}
	var s testsuite.WorkflowTestSuite
	s.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	env := s.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	w.Register(env)
	env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { out.Activities++ })
	var failed error
	var answer func()
	answer = func() {
		var state temporal.State
		v, err := env.QueryWorkflow("state")
		if err == nil {
			err = v.Get(&state)
		}
		if err != nil {
			failed = err
			return
		}
		if state.Waiting {
			answers, resolve := r.Answer(state.Questions)
			env.UpdateWorkflow("decide", "", &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { failed = err },
				OnComplete: func(_ any, err error) { failed = err },
			}, map[string]any{"answers": answers, "resolve": resolve})
		}
		if !state.Ended && failed == nil {
			env.RegisterDelayedCallback(answer, poll)
		}
	}
	env.RegisterDelayedCallback(answer, poll)
	env.ExecuteWorkflow("pex.Run", map[string]any{"version": r.Version}, start, []byte(nil), []byte(nil))
	if err := env.GetWorkflowError(); err != nil {
		return out, err
	}
	if failed != nil {
		return out, fmt.Errorf("an answer was refused: %w", failed)
	}
	var res struct {
		Result  json.RawMessage `json:"result"`
		Journal []byte          `json:"journal"`
	}
	if err := env.GetWorkflowResult(&res); err != nil {
		return out, err
	}
	out.Journal, out.Result = res.Journal, res.Result
	return out, nil
}

// historian is a client that knows only how the workflow began.
type historian struct {
	client.Client

	start []byte
}

// GetWorkflowHistory implements client.Client.
func (h historian) GetWorkflowHistory(context.Context, string, string, bool, enums.HistoryEventFilterType) client.HistoryEventIterator {
	return &beginning{h.start}
}

// beginning is the first event of a history.
type beginning struct{ start []byte }

// HasNext implements client.HistoryEventIterator.
func (b *beginning) HasNext() bool { return b.start != nil }

// Next implements client.HistoryEventIterator.
func (b *beginning) Next() (*historypb.HistoryEvent, error) {
	in, err := converter.GetDefaultDataConverter().ToPayloads(map[string]any{}, b.start, []byte(nil), []byte(nil))
	if err != nil {
		return nil, err
	}
	b.start = nil
	return startedWith(in), nil
}

func startedWith(in *commonpb.Payloads) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: 1, EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: in},
		},
	}
}
