package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/turn"
)

// segment is the part of a run that a completion or a response shows: from its start or from
// an answer, until it ends or waits for an answer.
type segment struct {
	run   string
	after int // number of the last event before it
	// open are the questions that the request did not answer; nil = the run continues.
	open     []interrupt.Question
	why      string     // why it did not; "" = it did
	answered []string   // paths of the questions that the request answered
	past     *turn.Turn // state of a run that existed before the request; nil = it did not
}

// start starts a run, or finds the one that the same request has started.
func start(ctx context.Context, c *access.Client, a *agents.Agent, n access.NewRun) (*segment, error) {
	s, err := c.Prepare(ctx, a, n)
	if err != nil {
		return nil, err
	}
	existed, err := s.Run(ctx)
	if err != nil || !existed {
		return &segment{run: s.RunID}, err
	}
	return existing(ctx, c, s.RunID)
}

// existing returns the whole of a run that exists.
func existing(ctx context.Context, c *access.Client, run string) (*segment, error) {
	t, _, err := turn.Read(ctx, c, run)
	return &segment{run: run, past: t}, err
}

// maxQuote is how many characters of a message are repeated that is not an answer.
const maxQuote = 60

// answer answers an open question of a run with a message of the user, and returns the part of
// the run behind the answer. A message that answers no question leaves them open.
func answer(ctx context.Context, c *access.Client, run string, open []interrupt.Question, message string) (*segment, error) {
	s, err := existing(ctx, c, run)
	if err != nil {
		return nil, err
	}
	s.after = s.past.Seq
	answers, err := runs.AssignPaths(run, open, []runs.Answer{{Value: message}})
	if err == nil {
		err = c.Answer(ctx, run, manager.Answer{Path: answers[0].Path, Value: answers[0].Value})
	}
	if bad, ok := errors.AsType[*runs.AnswerError](err); ok {
		s.open, s.why = open, fmt.Sprintf("%q is not an answer.", text.Clip(text.OneLine(bad.Value), maxQuote))
		return s, nil
	}
	if err != nil && !errors.As(err, new(*manager.DecidedError)) { // by another client
		return nil, err
	}
	s.answered = []string{answers[0].Path}
	return s, nil
}

// state returns the state of the run after the answers of the request, whose questions the
// events do not close at once.
func (s *segment) state(t *turn.Turn) *turn.Turn {
	state := *t
	state.Open = slices.DeleteFunc(slices.Clone(t.Open), func(q interrupt.Question) bool { return slices.Contains(s.answered, q.Path) })
	return &state
}

// follow calls show with the changes of the segment until the run ends or waits, and returns the state of
// the run then. It returns nil if the stream ends first, or show returns false.
func (s *segment) follow(c *access.Client, stream access.Stream, show func(*turn.Turn, turn.Change) bool) (*turn.Turn, error) {
	if s.open != nil {
		return &turn.Turn{Run: s.run, Open: s.open}, nil
	}
	changes, err := turn.Follow(c, stream, s.run, s.after)
	if err != nil {
		return nil, err
	}
	for t, change := range changes {
		t = s.state(t)
		isAll := s.past == nil || t.Seq >= s.past.Seq // a question may have been answered since
		isEnd := change.Kind == turn.Ended || change.Kind == turn.Paused || isAll && t.WaitsFor(t.Open)
		switch {
		case !show(t, change):
			return nil, nil
		case isEnd:
			return t, nil
		}
	}
	return nil, nil
}

// runError returns the error of a run without an answer, or nil. Clients repeat requests with
// status 5xx, which would start another run.
func runError(t *turn.Turn) *apiError {
	code, message := "", t.Outcome()
	switch {
	case t.Status == stop.RunFailed && t.Stop.Code != stop.Refused:
		code = "run_failed"
	case t.Status == stop.RunCancelled:
		code = "run_cancelled"
	case t.Status == "" && len(t.Open) == 0:
		code, message = "run_suspended", "The run is suspended, and continues when the server has started again"
	default:
		return nil
	}
	return &apiError{status: http.StatusUnprocessableEntity, code: code, message: message + " (run " + t.Run + ")"}
}

// finishReason returns why an answer ends: a limit stopped the run (length), a model refused or
// a guard stopped it (content_filter), or it is complete (stop).
func finishReason(t *turn.Turn) string {
	switch {
	case t.Stop.Code == stop.Refused, t.Status == stop.RunStopped && t.Stop.Code == stop.Guard:
		return "content_filter"
	case t.Status == stop.RunStopped:
		return "length"
	}
	return "stop"
}
