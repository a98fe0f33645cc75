package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

func TestErrorsAreProblems(t *testing.T) {
	ended := &engine.Result{RunID: "r-1"}
	for _, c := range []struct {
		err    error
		code   problem.Code
		status int
		retry  time.Duration
	}{
		{manager.ErrQueueFull, problem.QueueFull, 503, 5 * time.Second},
		{manager.ErrClosing, problem.ShuttingDown, 503, 5 * time.Second},
		{&manager.RateError{RetryAfter: 7 * time.Second}, problem.RateLimited, 429, 7 * time.Second},
		{&manager.BusyError{MemoryID: "m", Run: "r-1"}, problem.ConversationBusy, 409, 0},
		{&manager.RunningError{Run: "r-1"}, problem.Running, 409, 0},
		{&journal.InUseError{Run: "r-1"}, problem.Running, 409, 0},
		{&runs.EndedError{Result: ended}, problem.Ended, 409, 0},
		{&runs.UnresolvedWriteError{Question: interrupt.Question{Path: "p"}}, problem.UnresolvedWrite, 409, 0},
		{&runs.QuestionError{Reason: "closed"}, problem.NoOpenQuestion, 404, 0},
		{&runs.NotFoundError{Run: "r-1", Dir: "/home/server"}, problem.NotFound, 404, 0},
		{&journal.IDError{Run: "../x"}, problem.NotFound, 404, 0},
		{&runs.SpecChangedError{Run: "r-1", Spec: "/home/server/spec.yaml", Before: []byte(`{"a":1}`), After: []byte(`{"a":2}`)}, problem.SpecChanged, 409, 0},
		{&runs.SpecChangedError{Run: "r-1", Spec: "/home/server/spec.yaml", Err: &host.InvalidError{Found: diag.List{{File: "/home/server/spec.yaml", Severity: diag.Error, Message: "no"}}}}, problem.SpecChanged, 409, 0},
		{fmt.Errorf("/home/server/runs: %w", journal.ErrFull), problem.StoreFull, 507, 0},
		{fmt.Errorf("/home/server/runs: %w", journal.ErrCorrupt), problem.StoreCorrupt, 500, 0},
		{fmt.Errorf("/home/server/runs: %w", journal.ErrNewer), problem.StoreCorrupt, 500, 0},
		{errors.New("open /home/server: key sk-123"), problem.Internal, 500, 0},
	} {
		var log bytes.Buffer
		o := api.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}
		p := api.ProblemOf(o, httptest.NewRequest("GET", "/v1/runs/r-1", nil), fmt.Errorf("wrapped: %w", c.err))
		body, err := p.MarshalJSON()
		if err != nil || p.Code != c.code || p.Status() != c.status || p.RetryAfter != c.retry || strings.Contains(string(body), "/home/server") || p.Detail == "" {
			t.Errorf("%v: %s, retry after %s, %v", c.err, body, p.RetryAfter, err)
		}
		if logged := strings.Contains(log.String(), "sk-123"); logged != (c.code == problem.Internal) {
			t.Errorf("%v: logged %q", c.err, log.String())
		}
	}
}
