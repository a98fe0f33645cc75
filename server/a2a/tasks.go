package a2a

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

const (
	pageSize   = 50
	maxPage    = 100
	cancelWait = 5 * time.Second // for the end of a run that is cancelled
)

// tasks are the runs of an agent, for one request.
type tasks struct {
	server  *server
	client  *access.Client
	agent   *agents.Agent
	request *http.Request
	body    []byte
}

var _ a2asrv.RequestHandler = (*tasks)(nil)

// find returns a run of the agent as a task, and its result so far.
func (t *tasks) find(ctx context.Context, id a2a.TaskID) (*run, *engine.Result, error) {
	read, err := t.client.Read(string(id))
	if err == nil && t.client.AgentOf(access.Owner{Agent: read.Start.Input.Agent, Spec: read.Start.Name}) != t.agent.Name {
		err = problem.New(problem.NotFound, "")
	}
	if err != nil {
		p := t.server.Access.Problem(t.request, err)
		if p.Code == problem.NotFound {
			p = problem.New(problem.NotFound, "no task %q", id)
		}
		return nil, nil, t.fail(p)
	}
	res := t.client.Result(ctx, read, false)
	decided := map[string]bool{}
	for _, d := range res.Decisions {
		decided[d.Path] = true
	}
	info := a2a.TaskInfo{TaskID: id, ContextID: cmp.Or(read.Start.Input.MemoryID, string(id))}
	return newRun(info, decided), res, nil
}

func newRun(info a2a.TaskInfo, decided map[string]bool) *run {
	return &run{info, func(t *turn.Turn) []interrupt.Question {
		return slices.DeleteFunc(slices.Clone(t.Open), func(q interrupt.Question) bool { return decided[q.Path] })
	}}
}

// read returns the task of a run, and the number of its last event.
func (t *tasks) read(ctx context.Context, r *run, history *int) (*a2a.Task, int, error) {
	state, changes, err := turn.Read(ctx, t.client, string(r.TaskID))
	if err != nil {
		return nil, 0, t.fail(err)
	}
	return t.task(r, state, changes, history), lastOf(changes), nil
}

// task returns the task of a run with its latest messages; history nil = all.
func (t *tasks) task(r *run, state *turn.Turn, changes []turn.Change, history *int) *a2a.Task {
	_, queued := t.client.Manager.Running(string(r.TaskID))
	task := r.task(state, queued)
	for _, c := range changes {
		if c.Kind == turn.Received {
			task.History = append(task.History, r.message("message:"+c.Path, a2a.MessageRoleUser, a2a.NewTextPart(c.Text)))
		}
	}
	if history != nil {
		task.History = task.History[max(0, len(task.History)-max(0, *history)):]
	}
	return task
}

// lastOf returns the number of the last event.
func lastOf(changes []turn.Change) (seq int) {
	for _, c := range changes {
		seq = max(seq, c.Seq)
	}
	return seq
}

// GetTask implements a2asrv.RequestHandler.
func (t *tasks) GetTask(ctx context.Context, in *a2a.GetTaskRequest) (*a2a.Task, error) {
	r, _, err := t.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	task, _, err := t.read(ctx, r, in.HistoryLength)
	return task, err
}

// ListTasks implements a2asrv.RequestHandler. Tasks have their artifacts only on request.
func (t *tasks) ListTasks(ctx context.Context, in *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	after, err := runs.ParsePosition(in.PageToken)
	if err != nil {
		return nil, t.fail(problem.New(problem.InvalidCursor, "pageToken: %v", err))
	}
	if in.PageSize < 0 || in.PageSize > maxPage {
		return nil, t.fail(problem.New(problem.InvalidRequest, "pageSize must be 1 to %d", maxPage))
	}
	limit := cmp.Or(in.PageSize, pageSize)
	f := runs.Filter{MemoryID: in.ContextID, After: after, Limit: limit}
	if in.Status != "" {
		f.Match = func(s runs.Summary) bool { return stateOf(s) == in.Status }
	}
	if in.StatusTimestampAfter != nil {
		f.Since = *in.StatusTimestampAfter
	}
	found, more, err := t.client.List(ctx, f, t.agent.Name, "")
	if err != nil {
		return nil, t.fail(err)
	}
	out := &a2a.ListTasksResponse{Tasks: []*a2a.Task{}, TotalSize: len(found) + more, PageSize: limit}
	for _, s := range found {
		task, err := t.listed(ctx, s, in)
		if err != nil {
			return nil, err
		}
		out.Tasks = append(out.Tasks, task)
	}
	if more > 0 {
		out.NextPageToken = found[len(found)-1].Position().String()
	}
	return out, nil
}

// listed returns a run in a list as a task.
func (t *tasks) listed(ctx context.Context, s runs.Summary, in *a2a.ListTasksRequest) (*a2a.Task, error) {
	r := newRun(a2a.TaskInfo{TaskID: a2a.TaskID(s.Run), ContextID: cmp.Or(s.MemoryID, s.Run)}, nil)
	if in.IncludeArtifacts {
		task, _, err := t.read(ctx, r, in.HistoryLength)
		return task, err
	}
	task := r.task(&turn.Turn{Question: s.Question}, false)
	if in.HistoryLength == nil || *in.HistoryLength == 0 {
		task.History = nil
	}
	at := s.StartedAt.Add(time.Duration(s.DurationMS) * time.Millisecond).UTC()
	task.Status = a2a.TaskStatus{State: stateOf(s), Timestamp: &at}
	return task, nil
}

// stateOf returns the state of a run in a list.
func stateOf(s runs.Summary) a2a.TaskState {
	if s.Interrupts > 0 {
		return a2a.TaskStateInputRequired
	}
	switch s.Status {
	case "queued":
		return a2a.TaskStateSubmitted
	case "completed", "stopped":
		return a2a.TaskStateCompleted
	case "failed":
		return a2a.TaskStateFailed
	case "cancelled":
		return a2a.TaskStateCanceled
	default:
		return a2a.TaskStateWorking
	}
}

// CancelTask implements a2asrv.RequestHandler. It waits a moment for the end of the run.
func (t *tasks) CancelTask(ctx context.Context, in *a2a.CancelTaskRequest) (*a2a.Task, error) {
	r, _, err := t.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	err = t.client.Cancel(ctx, string(in.ID))
	if errors.As(err, new(*runs.EndedError)) {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task has ended")
	}
	if err != nil {
		return nil, t.fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, cancelWait)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		read, err := t.client.Read(string(in.ID))
		if err != nil {
			return nil, t.fail(err)
		}
		if read.Ended() || ctx.Err() != nil {
			task, _, err := t.read(context.WithoutCancel(ctx), r, nil)
			return task, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// SubscribeToTask implements a2asrv.RequestHandler.
func (t *tasks) SubscribeToTask(ctx context.Context, in *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	r, res, err := t.find(ctx, in.ID)
	if err != nil {
		return failed(err)
	}
	if isEnded(res) {
		return failed(a2a.NewError(a2a.ErrUnsupportedOperation, "the task has ended; get it with GetTask"))
	}
	task, after, err := t.read(ctx, r, nil)
	if err != nil {
		return failed(err)
	}
	stream, err := t.client.OpenStream(ctx)
	if err != nil {
		return failed(t.fail(err))
	}
	return t.stream(stream, r, task, after)
}

func failed(err error) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) { yield(nil, err) }
}

// isEnded reports whether a run has ended for good.
func isEnded(res *engine.Result) bool {
	return slices.Contains([]stop.RunStatus{stop.RunCompleted, stop.RunStopped, stop.RunFailed, stop.RunCancelled}, res.Status)
}

// stream returns a task and its events after an event, until it ends or waits for answers.
func (t *tasks) stream(s access.Stream, r *run, task *a2a.Task, after int) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		defer s.Release()
		if !yield(task, nil) || task.Status.State.Terminal() || task.Status.State == a2a.TaskStateInputRequired {
			return
		}
		changes, err := turn.Follow(t.client, s, string(r.TaskID), after)
		if err != nil {
			yield(nil, t.fail(err))
			return
		}
		for state, c := range changes {
			for _, e := range r.events(state, c) {
				if !yield(e, nil) {
					return
				}
			}
			if r.waits(state, c) {
				yield(r.asks(state), nil)
				return
			}
		}
	}
}

// waits reports whether the run waits for answers after a change.
func (r *run) waits(t *turn.Turn, c turn.Change) bool {
	open := r.open(t)
	return len(open) > 0 && (c.Kind == turn.Paused || c.Seq > 0 && t.WaitsFor(open))
}

// GetExtendedAgentCard implements a2asrv.RequestHandler.
func (t *tasks) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, a2a.NewError(a2a.ErrExtendedCardNotConfigured, "the card of the agent has everything")
}

// errNoPush is the error of all methods about push notifications.
func errNoPush() error {
	return a2a.NewError(a2a.ErrPushNotificationNotSupported, "push notifications are not supported; the operator of the server configures webhooks with notify")
}

// GetTaskPushConfig implements a2asrv.RequestHandler.
func (t *tasks) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return nil, errNoPush()
}

// ListTaskPushConfigs implements a2asrv.RequestHandler.
func (t *tasks) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return nil, errNoPush()
}

// CreateTaskPushConfig implements a2asrv.RequestHandler.
func (t *tasks) CreateTaskPushConfig(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error) {
	return nil, errNoPush()
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler.
func (t *tasks) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return errNoPush()
}
