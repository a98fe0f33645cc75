package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/logs"
)

const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// lines returns what a log wrote, without times.
func lines(t *testing.T, b *bytes.Buffer) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(b.String()) {
		v := map[string]any{}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		delete(v, "time")
		delete(v, "duration")
		out = append(out, v)
	}
	b.Reset()
	return out
}

func open(t *testing.T, level slog.Level) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	log, err := logs.New(&b, "json", level)
	if err != nil {
		t.Fatal(err)
	}
	return log, &b
}

// A line about a request has what is known of it when the line is written.
func TestLinesAboutRequests(t *testing.T) {
	log, b := open(t, slog.LevelInfo)
	ctx := logs.WithRequest(t.Context(), "q1")
	log.InfoContext(ctx, "a")
	logs.Called(ctx, caller)
	log.InfoContext(ctx, "b")
	logs.Authenticated(ctx, "acme")
	log.With("n", 1).InfoContext(ctx, "c", "request_id", "given")
	logs.Started(ctx, logs.Run{ID: "r1", Tenant: "acme", Caller: caller})
	log.InfoContext(ctx, "d")
	logs.Started(ctx, logs.Run{ID: "r2"})
	log.InfoContext(ctx, "e")
	logs.Started(context.Background(), logs.Run{ID: "r3"})
	log.Info("f")
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	want := []map[string]any{
		{"level": "INFO", "msg": "a", "request_id": "q1"},
		{"level": "INFO", "msg": "b", "request_id": "q1", "trace_id": trace, "span_id": span},
		{"level": "INFO", "msg": "c", "request_id": "given", "tenant": "acme", "trace_id": trace, "span_id": span, "n": 1.0},
		{"level": "INFO", "msg": "d", "request_id": "q1", "run_id": "r1", "tenant": "acme", "trace_id": trace, "span_id": "359493d34ce92673"},
		{"level": "INFO", "msg": "e", "request_id": "q1", "run_id": "r2", "trace_id": "66f498ce5b6c300d936e1f28d5c296a0", "span_id": "dffde587fd0c45dd"},
		{"level": "INFO", "msg": "f"},
	}
	if d := cmp.Diff(want, lines(t, b)); d != "" {
		t.Error(d)
	}
}

// What an error quotes is only in a log with level debug.
func TestErrorsDoNotQuoteContent(t *testing.T) {
	for said, want := range map[string]string{
		`parse "secret": no number`:                       `parse …: no number`,
		`parse "a \"secret\" b" and 'secret' and doesn't`: `parse … and … and doesn't`,
		"`secret` and \"secret":                           "… and …",
		`the file /srv/home is gone`:                      `the file /srv/home is gone`,
		"first\nsecret":                                   "first",
		strings.Repeat("é", 400):                          strings.Repeat("é", 300) + "…",
	} {
		log, b := open(t, slog.LevelInfo)
		log.Error("x", "error", errors.New(said), "cause", fmt.Errorf("w: %w", errors.New(said)), "agent", "desk")
		log.Warn("x", "error", said)
		got := lines(t, b)
		if got[0]["error"] != want || got[0]["cause"] != "w: "+want && len(said) < 400 || got[1]["error"] != want || got[0]["agent"] != "desk" {
			t.Errorf("%q: %v", said, got)
		}
		log, b = open(t, slog.LevelDebug)
		log.Error("x", "error", errors.New(said))
		if got := lines(t, b); got[0]["error"] != said {
			t.Errorf("debug: %v", got)
		}
	}
	log, b := open(t, slog.LevelInfo)
	log.Error("x", slog.Any("error", &url.Error{Op: "Post", URL: "https://a/secret?b=secret", Err: errors.New("refused")}))
	if got := lines(t, b); got[0]["error"] != "Post …: refused" {
		t.Error(got)
	}
}

// Lines about a run have its trace, and none of its content.
func TestLinesAboutRuns(t *testing.T) {
	const secret = "secret"
	usage := engine.Usage{ModelCalls: 2, ToolCalls: 1, Tokens: model.Tokens{Input: 10, Output: 5}, CostUSD: 0.5}
	events := []engine.Event{
		{Seq: 1, Type: engine.RunStarted, Question: secret},
		{Seq: 2, Type: engine.ModelCompleted, Path: "plan.1/model", Model: "main", Status: "stop", Text: secret},
		{Seq: 3, Type: engine.ToolCompleted, Path: "s1/call", Tool: "refund", Status: "ok", Text: secret, Args: []byte(`"secret"`)},
		{Seq: 4, Type: engine.InterruptRaised, Path: "s2", Interrupt: &interrupt.Question{Kind: interrupt.Approval, Question: secret}},
		{Seq: 5, Type: engine.GuardFired, Path: "s2", Guard: &engine.GuardEvent{Name: "cap", Do: "stop", Message: secret}},
		{Seq: 6, Type: engine.LimitReached, Path: "s3", Stop: &stop.Reason{Code: stop.BudgetTokens, Message: secret}},
		{Seq: 7, Type: engine.RunCompleted, Status: string(stop.RunFailed), Stop: &stop.Reason{Code: stop.BudgetTokens, Message: secret}, Totals: &usage, Text: secret},
	}
	log, b := open(t, slog.LevelInfo)
	run := logs.Run{ID: "r1", Tenant: "acme", Caller: caller}
	sink := logs.Sink(log, run)
	for _, ev := range events {
		sink.Send(ev)
	}
	if strings.Contains(b.String(), secret) {
		t.Error(b)
	}
	var said []string
	for _, line := range lines(t, b) {
		if line["run_id"] != "r1" || line["tenant"] != "acme" || line["trace_id"] != "0af7651916cd43dd8448eb211c80319c" || len(line["span_id"].(string)) != 16 {
			t.Errorf("%v", line)
		}
		said = append(said, fmt.Sprint(line["level"], " ", line["msg"], " ", line["path"]))
	}
	want := []string{
		"INFO run started <nil>", "INFO run waits for an answer s2", "INFO guard fired s2", "INFO limit reached s3", "WARN run ended <nil>",
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
	if logs.Sink(nil, run) != nil || logs.Sink(slog.New(slog.DiscardHandler), run) != nil {
		t.Error("a sink without a log")
	}

	log, b = open(t, slog.LevelDebug)
	resumed := logs.Sink(log, run)
	resumed.(engine.ReplaySink).Replay(events[0])
	resumed.Send(events[1])
	resumed.Send(events[2])
	resumed.Send(engine.Event{Seq: 4, Type: engine.Warning, Text: "a reply was lost"})
	resumed.Send(engine.Event{Type: engine.RunSuspended})
	said = nil
	for _, line := range lines(t, b) {
		said = append(said, fmt.Sprint(line["msg"], " ", line["path"], " ", line["tool"], " ", line["warning"]))
	}
	want = []string{
		"run continues <nil> <nil> <nil>", "model call completed plan.1/model <nil> <nil>", "tool call completed s1/call refund <nil>",
		"run warning <nil> <nil> a reply was lost", "run suspended <nil> <nil> <nil>",
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}

	logs.Error(log, logs.Run{ID: "r1", IsUnread: true}, "read a run", errors.New("x"))
	if d := cmp.Diff([]map[string]any{{"level": "ERROR", "msg": "read a run", "error": "x", "run_id": "r1"}}, lines(t, b)); d != "" {
		t.Error(d)
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := logs.New(&bytes.Buffer{}, "xml", slog.LevelInfo); err == nil || err.Error() != `unknown format "xml"; use text or json` {
		t.Error(err)
	}
}
