package faultserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// tested is a model under test.
type tested struct {
	model.Model
}

// maxMessage is the maximum length of an error message.
const maxMessage = 4 << 10

// waitLog records the waits between the attempts of one call.
type waitLog struct {
	mu    sync.Mutex
	waits []time.Duration
}

type waitsKey struct{}

// recordWait records a wait instead of waiting.
func recordWait(ctx context.Context, d time.Duration) error {
	if n, ok := ctx.Value(waitsKey{}).(*waitLog); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.waits = append(n.waits, d)
	}
	return ctx.Err()
}

// model creates the model under test. It has no circuit breaker, which would skip calls and so
// their faults.
func (s *endpoint) model(t *testing.T, of Maker, most int64) tested {
	t.Helper()
	m, err := of(model.Settings{
		Name: "faulty", Model: "m", BaseURL: s.base, APIKey: "sk-secret-of-faultserver", Retry: retry.Policy{MaxAttempts: attempts},
	}, func(w *httpclient.Settings) {
		w.Sleep, w.Breaker = recordWait, nil
		if most > 0 { // otherwise the provider's own limits apply
			w.MaxBody, w.MaxStream = most, most
		}
		if s.transport != nil {
			w.Base = s.transport
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return tested{m}
}

// call makes one call and returns what is wrong with its result, or "".
func (s *endpoint) call(ctx context.Context, m tested, i int, p plan) string {
	how := map[bool]string{true: "always", false: "once"}[p.always]
	req := &model.Request{Messages: []model.Message{{Role: model.User, Text: model.Text{promptFor(i, p.fault, how)}}}}
	var deltas strings.Builder
	var stream func(model.Delta)
	if p.streamed {
		stream = func(d model.Delta) { deltas.WriteString(d.Text) }
	}
	waited := &waitLog{}
	got, err := m.Generate(context.WithValue(ctx, waitsKey{}, waited), req, stream)
	f := &s.server.faults[p.fault]
	why := f.checkResult(p, got, err)
	if why == "" {
		why = f.checkWaits(p, waited.waits, err)
	}
	if why == "" && err == nil && p.streamed && !strings.HasSuffix(strings.ToValidUTF8(deltas.String(), "\uFFFD"), got.Text) {
		why = fmt.Sprintf("the deltas are %.200q", deltas.String())
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s: call %d, %s, %s, streamed %v: %s", s.name, i, f.name, how, p.streamed, why)
}

// checkResult returns what is wrong with the result of a call, or "".
func (f *fault) checkResult(p plan, got *model.Reply, err error) string {
	o := f.outcome(p.streamed)
	passed := !p.always && !f.final && (o.retryable() || f.recovers)
	if err == nil {
		if !o.ok && !passed {
			return fmt.Sprintf("a reply instead of an error: %.200q", got.Text)
		}
		return f.checkReply(got)
	}
	e, ok := errors.AsType[*model.Error](err)
	switch {
	case got != nil:
		return fmt.Sprintf("a reply %+v and an error: %.300v", got, err)
	case !ok:
		return fmt.Sprintf("an error that is not a *model.Error: %.300v", err)
	case !slices.Contains(o.kinds, e.Kind):
		return fmt.Sprintf("not an error of the kinds %v: %.300v", o.kinds, err)
	case f.final && e.Attempts != 1:
		return fmt.Sprintf("retried: %.300v", err)
	case !p.always && e.Retryable() && !f.final:
		return fmt.Sprintf("not retried: %.300v", err)
	case e.Attempts < 1 || e.Attempts > attempts:
		return fmt.Sprintf("%d attempts: %.300v", e.Attempts, err)
	case e.Retryable() && e.Attempts != attempts && f.server != untrustedTLS && !f.final:
		return fmt.Sprintf("only %d attempts: %.300v", e.Attempts, err)
	case e.Message == "" || len(e.Message) > maxMessage || !utf8.ValidString(e.Message):
		return fmt.Sprintf("an error message of %d bytes: %.300q", len(e.Message), e.Message)
	}
	return ""
}

// checkReply returns what is wrong with a successful reply, or "".
func (f *fault) checkReply(got *model.Reply) string {
	says := Answer
	if f.text != "" && (!f.orAnswer || got.Text != Answer) {
		says = f.text
	}
	counts := []int{got.Usage.Input, got.Usage.Output, got.Usage.Cached, got.Usage.Reasoning}
	switch {
	case got.Text != says || len(got.Calls) > 0 || got.Stop != model.EndTurn:
		return fmt.Sprintf("the reply %.300q, stop %s, %d calls", got.Text, got.Stop, len(got.Calls))
	case slices.Min(counts) < 0 || slices.Max(counts) > 1<<40:
		return fmt.Sprintf("token counts %v", counts)
	}
	return ""
}

// checkWaits returns what is wrong with the waits between attempts, or "".
func (f *fault) checkWaits(p plan, took []time.Duration, err error) string {
	if len(took) >= attempts {
		return fmt.Sprintf("%d waits between %d attempts", len(took), attempts)
	}
	for i, d := range took {
		if d > longest || d <= 0 {
			return fmt.Sprintf("a wait of %v", d)
		}
		if want := f.waits[i]; want != 0 && p.always && d != want {
			return fmt.Sprintf("waits of %v, want %v", took, f.waits)
		}
	}
	if f.waits[0] != 0 && p.always && (err == nil || len(took) != 2) {
		return fmt.Sprintf("waits of %v", took)
	}
	return ""
}

// Cancel cancels calls after every seventh byte of a reply, or of a stream if the provider
// streams. Each call must return the cancellation and no reply.
func Cancel(t *testing.T, f Format, whole []byte, llm Maker) {
	t.Helper()
	var stream func(model.Delta)
	if f.Stream != nil {
		stream = func(model.Delta) {}
	}
	silent := make(chan struct{})
	n := 0 // bytes sent
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", f.contentType(stream != nil))
		_, _ = w.Write(whole[:n])
		_ = http.NewResponseController(w).Flush()
		silent <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	m, err := llm(model.Settings{Model: "m", BaseURL: s.URL, APIKey: "sk-secret-of-faultserver", Retry: retry.Policy{MaxAttempts: attempts}},
		func(w *httpclient.Settings) { w.Sleep, w.Breaker = recordWait, nil })
	if err != nil {
		t.Fatal(err)
	}
	req := &model.Request{Messages: []model.Message{{Role: model.User, Text: model.Text{"How many?"}}}}
	for ; n < len(whole); n += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-silent; cancel() }()
		if got, err := m.Generate(ctx, req, stream); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("at byte %d: reply %+v, error %v", n, got, err)
		}
		cancel()
	}
}
