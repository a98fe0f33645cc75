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

// maxMessage is the longest message of an error that people are shown.
const maxMessage = 4 << 10

// naps are the waits between the attempts of one call.
type naps struct {
	mu    sync.Mutex
	taken []time.Duration
}

type napsKey struct{}

// nap notes a wait in place of waiting.
func nap(ctx context.Context, d time.Duration) error {
	if n, ok := ctx.Value(napsKey{}).(*naps); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.taken = append(n.taken, d)
	}
	return ctx.Err()
}

// model makes the model that asks a site. It has no breaker: one would keep calls
// away from the faults.
func (s *site) model(t *testing.T, of Maker, most int64) tested {
	t.Helper()
	m, err := of(model.Settings{
		Name: "chaos", Model: "m", BaseURL: s.base, APIKey: "sk-of-a-chaos", Retry: retry.Policy{MaxAttempts: attempts},
	}, func(w *httpclient.Settings) {
		w.Sleep, w.Breaker = nap, nil
		if most > 0 { // else the bounds are the provider's own
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

// call makes one call, and says what is wrong with its end.
func (s *site) call(ctx context.Context, m tested, i int, p plan) string {
	how := map[bool]string{true: "always", false: "once"}[p.always]
	req := &model.Request{Messages: []model.Message{{Role: model.User, Text: model.Text{asking(i, p.fault, how)}}}}
	var said strings.Builder
	var stream func(model.Delta)
	if p.streamed {
		stream = func(d model.Delta) { said.WriteString(d.Text) }
	}
	waited := &naps{}
	got, err := m.Generate(context.WithValue(ctx, napsKey{}, waited), req, stream)
	f := &s.server.faults[p.fault]
	why := f.judge(p, got, err)
	if why == "" {
		why = f.waited(p, waited.taken, err)
	}
	if why == "" && err == nil && p.streamed && !strings.HasSuffix(strings.ToValidUTF8(said.String(), "\uFFFD"), got.Text) {
		why = fmt.Sprintf("the deltas said %.200q", said.String())
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s: call %d, %s, %s, streamed %v: %s", s.name, i, f.name, how, p.streamed, why)
}

// judge says what is wrong with the end of a call, "" where nothing is.
func (f *fault) judge(p plan, got *model.Reply, err error) string {
	o := f.outcome(p.streamed)
	passed := !p.always && !f.ends && (o.passes() || f.heals)
	if err == nil {
		if !o.answer && !passed {
			return fmt.Sprintf("a reply where there is none: %.200q", got.Text)
		}
		return f.wrong(got)
	}
	e, ok := errors.AsType[*model.Error](err)
	switch {
	case got != nil:
		return fmt.Sprintf("a reply %+v with an error: %.300v", got, err)
	case !ok:
		return fmt.Sprintf("an error of no type: %.300v", err)
	case !slices.Contains(o.kinds, e.Kind):
		return fmt.Sprintf("not of the kinds %v: %.300v", o.kinds, err)
	case f.ends && e.Attempts != 1:
		return fmt.Sprintf("repeated: %.300v", err)
	case !p.always && e.Retryable() && !f.ends:
		return fmt.Sprintf("not repeated: %.300v", err)
	case e.Attempts < 1 || e.Attempts > attempts:
		return fmt.Sprintf("%d attempts: %.300v", e.Attempts, err)
	case e.Retryable() && e.Attempts != attempts && f.lane != strange && !f.ends:
		return fmt.Sprintf("given up after %d attempts: %.300v", e.Attempts, err)
	case e.Message == "" || len(e.Message) > maxMessage || !utf8.ValidString(e.Message):
		return fmt.Sprintf("a message of %d bytes: %.300q", len(e.Message), e.Message)
	}
	return ""
}

// wrong says what is wrong with a right answer.
func (f *fault) wrong(got *model.Reply) string {
	says := Answer
	if f.says != "" && (!f.either || got.Text != Answer) {
		says = f.says
	}
	counts := []int{got.Usage.Input, got.Usage.Output, got.Usage.Cached, got.Usage.Reasoning}
	switch {
	case got.Text != says || len(got.Calls) > 0 || got.Stop != model.EndTurn:
		return fmt.Sprintf("the reply %.300q, stop %s, %d calls", got.Text, got.Stop, len(got.Calls))
	case slices.Min(counts) < 0 || slices.Max(counts) > 1<<40:
		return fmt.Sprintf("counts of %v", counts)
	}
	return ""
}

// waited says what is wrong with the waits between attempts.
func (f *fault) waited(p plan, took []time.Duration, err error) string {
	if len(took) >= attempts {
		return fmt.Sprintf("%d waits between %d attempts", len(took), attempts)
	}
	for i, d := range took {
		if d > longest || d <= 0 {
			return fmt.Sprintf("a wait of %v", d)
		}
		if want := f.waits[i]; want != 0 && p.always && d != want {
			return fmt.Sprintf("waits of %v, not of %v", took, f.waits)
		}
	}
	if f.waits[0] != 0 && p.always && (err == nil || len(took) != 2) {
		return fmt.Sprintf("waits of %v", took)
	}
	return ""
}

// Cancel ends calls after any number of bytes of a reply short of its end, in
// strides: of a stream, where the provider has them. Each ends as cancelled, with
// no reply.
func Cancel(t *testing.T, f Format, whole []byte, llm Maker) {
	t.Helper()
	var stream func(model.Delta)
	if f.Stream != nil {
		stream = func(model.Delta) {}
	}
	silent := make(chan struct{})
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", f.kind(stream != nil))
		_, _ = w.Write(whole[:n])
		_ = http.NewResponseController(w).Flush()
		silent <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	m, err := llm(model.Settings{Model: "m", BaseURL: s.URL, APIKey: "sk-of-a-chaos", Retry: retry.Policy{MaxAttempts: attempts}},
		func(w *httpclient.Settings) { w.Sleep, w.Breaker = nap, nil })
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
