package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// Problem returns what the client learns about an error. An error that is not about the
// request is logged, and the client learns only that there was one: it may name files of
// the server.
func (s *Server) Problem(r *http.Request, err error) *problem.Problem {
	s.logDiagnostics(r, err)
	for _, of := range []func(error) *problem.Problem{known, ofManager, ofRuns, ofOverrides, OfStore} {
		if p := of(err); p != nil {
			return p
		}
	}
	if r.Context().Err() == nil {
		s.Log.ErrorContext(r.Context(), "request failed", slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	return problem.New(problem.Internal, "the request failed; the log of the server has the cause")
}

func known(err error) *problem.Problem {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*feed.CursorError](err); ok {
		return problem.New(problem.InvalidCursor, "%v", e)
	}
	if e, ok := errors.AsType[*agents.ParametersError](err); ok {
		return invalidParameters(e.Err)
	}
	if e, ok := errors.AsType[*attachment.Error](err); ok {
		return invalidAttachment(e)
	}
	return nil
}

// invalidAttachment returns the problem of a file that a run cannot have. The hints are for the
// author of the spec.
func invalidAttachment(e *attachment.Error) *problem.Problem {
	return problem.New(problem.InvalidRequest, "%v", e).At("/files")
}

// ofManager returns the problem of an error of package manager.
func ofManager(err error) *problem.Problem {
	switch e := err; {
	case errors.Is(e, manager.ErrQueueFull):
		return problem.New(problem.QueueFull, "%v; nothing was started", e).Retry(5 * time.Second)
	case errors.Is(e, feed.ErrTooManyStreams):
		return problem.New(problem.Unavailable, "%v", e).Retry(5 * time.Second)
	case errors.Is(e, feed.ErrTooManyOfTenant):
		return problem.New(problem.RateLimited, "%v", e).Retry(5 * time.Second)
	case errors.Is(e, manager.ErrClosing), errors.Is(e, feed.ErrClosing):
		return problem.New(problem.ShuttingDown, "%v", e).Retry(5 * time.Second)
	case errors.Is(e, context.DeadlineExceeded), errors.Is(e, context.Canceled):
		return problem.New(problem.Unavailable, "the run is busy; repeat the request").Retry(time.Second)
	}
	if e, ok := errors.AsType[*manager.RateError](err); ok {
		return problem.New(problem.RateLimited, "%v", e).Retry(e.RetryAfter)
	}
	if e, ok := errors.AsType[*manager.QuotaError](err); ok {
		return problem.New(problem.QuotaExceeded, "%v; nothing was started", e).Retry(e.RetryAfter()).
			With("needed_usd", e.Most).With("left_usd", e.Usage.Left()).With("renews_at", e.Usage.Renews)
	}
	if e, ok := errors.AsType[*manager.CostLimitError](err); ok {
		return problem.New(problem.InvalidCostLimit, "%v", e).At("/set")
	}
	if e, ok := errors.AsType[*manager.BusyError](err); ok {
		return problem.New(problem.ConversationBusy, "%v; nothing was changed", e).With("run_id", e.Run)
	}
	if e, ok := errors.AsType[*manager.RunningError](err); ok {
		return problem.New(problem.Running, "%v", e)
	}
	if e, ok := errors.AsType[*manager.DecidedError](err); ok {
		return problem.New(problem.AlreadyDecided, "%v", e).With("decision", e.Decision)
	}
	if e, ok := errors.AsType[*manager.NotOpenError](err); ok {
		return problem.New(problem.NoOpenQuestion, "%v", e)
	}
	if e, ok := errors.AsType[*interrupt.NotApproverError](err); ok {
		p := problem.New(problem.NotAnApprover, "%v", e).With("path", e.Path)
		if !e.Rule.Approvers.IsZero() {
			p = p.With("approvers", e.Rule.Approvers.Source)
		}
		if e.Rule.FourEyes {
			p = p.With("four_eyes", true)
		}
		return p
	}
	if e, ok := errors.AsType[*manager.ChangedError](err); ok {
		return problem.New(problem.QuestionChanged, "%v; get the question again", e)
	}
	return nil
}

// ofRuns returns the problem of an error of package runs.
func ofRuns(err error) *problem.Problem {
	if e, ok := errors.AsType[*runs.NotFoundError](err); ok {
		return noRun(e.Run)
	}
	if e, ok := errors.AsType[*journal.IDError](err); ok {
		return noRun(e.Run)
	}
	if e, ok := errors.AsType[*runs.EndedError](err); ok {
		return problem.New(problem.Ended, "%v", e).With("run_status", e.Result.Status)
	}
	if e, ok := errors.AsType[*runs.MessageConflictError](err); ok {
		return problem.New(problem.MessageConflict, "%v; send the new text with a new id", e).At("/id")
	}
	if e, ok := errors.AsType[*runs.MessageError](err); ok {
		return problem.New(problem.InvalidMessage, "%v", e)
	}
	if e, ok := errors.AsType[*runs.AnswerError](err); ok {
		return problem.New(problem.InvalidAnswer, "%v", e)
	}
	if e, ok := errors.AsType[*runs.QuestionError](err); ok {
		return problem.New(problem.NoOpenQuestion, "%v", e)
	}
	if e, ok := errors.AsType[*runs.UnresolvedWriteError](err); ok {
		return problem.New(problem.UnresolvedWrite, "%v; decide it first", e).With("path", e.Question.Path)
	}
	if e, ok := errors.AsType[*runs.LimitError](err); ok {
		return problem.New(problem.InvalidSet, "%v", e).At("/set")
	}
	if e, ok := errors.AsType[*runs.ForkPointError](err); ok {
		return problem.New(problem.InvalidForkPoint, "%v", e).At("/at").With("paths", e.Paths)
	}
	if e, ok := errors.AsType[*runs.StillNeededError](err); ok {
		return problem.New(problem.StillNeeded, "%v; to delete it anyway, add ?force=true", e)
	}
	if e, ok := errors.AsType[*runs.SpecChangedError](err); ok {
		return specChanged(e)
	}
	return nil
}

// OfStore returns the problem of an error of the files of runs.
func OfStore(err error) *problem.Problem {
	if e, ok := errors.AsType[*journal.ExistsError](err); ok {
		return problem.New(problem.RunExists, "a run %q exists", e.Run)
	}
	if _, ok := errors.AsType[*journal.InUseError](err); ok {
		return problem.New(problem.Running, "another process executes the run")
	}
	if _, ok := errors.AsType[*runs.StartError](err); ok || errors.Is(err, journal.ErrCorrupt) {
		return problem.New(problem.StoreCorrupt, "the journal of the run is damaged; pexctl store check has details")
	}
	if errors.Is(err, journal.ErrNewer) {
		return problem.New(problem.StoreCorrupt, "a later version of pexctl wrote the journal of the run")
	}
	if errors.Is(err, journal.ErrFull) {
		return problem.New(problem.StoreFull, "the disk of the server is full")
	}
	return nil
}

// specChanged returns the problem of a resumed run whose spec has changed.
func specChanged(e *runs.SpecChangedError) *problem.Problem {
	if e.Err == nil {
		return problem.New(problem.SpecChanged, "the spec has changed since run %s started; to continue with the original spec, set keep_spec", e.Run).
			With("diff", sourceDiff(e.Before, e.After))
	}
	return problem.New(problem.SpecChanged, "the spec no longer compiles (the log of the server has its errors); to continue with the original spec, set keep_spec")
}

// Fail responds with the problem of an error.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	problem.Write(w, r, s.Problem(r, err))
}

// sourceDiff returns the unified diff of two resolved specs.
func sourceDiff(before, now json.RawMessage) string {
	indented := func(source json.RawMessage) string {
		var b bytes.Buffer
		if json.Indent(&b, source, "", "  ") != nil {
			return string(source) + "\n"
		}
		return b.String() + "\n"
	}
	return textdiff.Compare(indented(before), indented(now)).Unified(0)
}
