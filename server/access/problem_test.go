package access_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// A client learns what is wrong with its overrides. The log has the errors about the spec.
func TestDiagnosticsOfOverrides(t *testing.T) {
	of := func(file, message, hint string) diag.Diagnostic {
		return diag.Diagnostic{File: file, Line: 1, Column: 2, Code: diag.BadOverride, Severity: diag.Error, Message: message, Advice: diag.Advice{Hint: hint}}
	}
	found := diag.List{
		of("--set limits.max_stesp=3", `unknown key "max_stesp" in limits`, "did you mean max_steps? limits/max_steps, 1 / 2"),
		of("--set a=1", "a is low", "move it to /srv/pex"),
		of("--set b=1", `root "/srv/pex" is outside`, ""),
		of("--set c=1", "see C:\\pex", ""),
		of("/srv/pex/spec.yaml", "the spec has secrets", ""),
		of("the run's program", "the program has secrets", ""),
		{File: "--set d=1", Severity: diag.Warning, Message: "only a warning"},
	}
	const shown = `[{"file":"--set limits.max_stesp=3","line":1,"column":2,"code":"PEX018","severity":"error","message":"unknown key \"max_stesp\" in limits","hint":"did you mean max_steps? limits/max_steps, 1 / 2"},` +
		`{"file":"--set a=1","line":1,"column":2,"code":"PEX018","severity":"error","message":"a is low","hint":""}]`
	for _, err := range []error{&agents.InvalidError{Found: found}, &host.InvalidError{Found: found}} {
		var log bytes.Buffer
		o := &access.Server{Log: slog.New(slog.NewTextHandler(&log, nil))}
		p := o.Problem(httptest.NewRequest("POST", "/v1/runs", nil), err)
		body, jsonErr := p.MarshalJSON()
		want := `{"type":"https://pexctl.dev/problems/invalid_set","title":"invalid override","status":422,"detail":"the spec has errors with these overrides","code":"invalid_set","pointer":"/set","diagnostics":` + shown + "}"
		if d := cmp.Diff(want, string(body)); d != "" || jsonErr != nil {
			t.Error(d, jsonErr)
		}
		for _, message := range []string{"is outside", "see C:", "the spec has secrets", "the program has secrets"} {
			if !strings.Contains(log.String(), message) {
				t.Errorf("the log does not contain %q: %s", message, log.String())
			}
		}
	}
	p := (&access.Server{Log: slog.New(slog.DiscardHandler)}).Problem(httptest.NewRequest("POST", "/v1/runs", nil), &agents.InvalidError{Found: found[4:]})
	if body, err := p.MarshalJSON(); err != nil || p.Code != problem.InvalidSet || strings.Contains(string(body), "diagnostics") {
		t.Errorf("%s %v", body, err)
	}
}

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
		{&runs.AnswerError{Reason: "not JSON"}, problem.InvalidAnswer, 422, 0},
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
		o := &access.Server{Log: slog.New(slog.NewTextHandler(&log, nil))}
		p := o.Problem(httptest.NewRequest("GET", "/v1/runs/r-1", nil), fmt.Errorf("wrapped: %w", c.err))
		body, err := p.MarshalJSON()
		if err != nil || p.Code != c.code || p.Status() != c.status || p.RetryAfter != c.retry || strings.Contains(string(body), "/home/server") || p.Detail == "" {
			t.Errorf("%v: %s, retry after %s, %v", c.err, body, p.RetryAfter, err)
		}
		if logged := strings.Contains(log.String(), "sk-123"); logged != (c.code == problem.Internal) {
			t.Errorf("%v: logged %q", c.err, log.String())
		}
	}
}
