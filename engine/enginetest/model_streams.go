package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
)

func (s *modelSuite) streamedText(t *testing.T) {
	const long = "Three of them, I think: 三 🙂, and one that may be.\n"
	script := NewModelScript(Response{Reply: model.Reply{Text: long, Stop: model.EndTurn, ID: "r-1", Model: "model-1", Usage: model.Tokens{Input: 5, Output: 9}}})
	var got strings.Builder
	pieces := 0
	reply, err := s.newModel(t, script, settings()).Generate(t.Context(), question(), func(d model.Delta) {
		got.WriteString(d.Text)
		pieces++
	})
	if err != nil {
		t.Fatal(err)
	}
	if reply.Text != long || got.String() != long || pieces < 2 {
		t.Errorf("reply %q, %d deltas %q", reply.Text, pieces, got.String())
	}
	if reply.Stop != model.EndTurn || reply.ID != "r-1" || reply.Model != "model-1" || reply.Usage != (model.Tokens{Input: 5, Output: 9}) {
		t.Errorf("reply %+v", reply)
	}
	if reply.FirstToken <= 0 || reply.FirstToken > reply.Latency {
		t.Errorf("first token after %v of %v", reply.FirstToken, reply.Latency)
	}
	if asked := script.Requests(); !asked[0].Streamed {
		t.Error("the request was not streamed")
	}
}

func (s *modelSuite) streamedCalls(t *testing.T) {
	want := []model.ToolCall{
		{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":"moss","n":10}`)},
		{ID: "c2", Name: "find", Args: json.RawMessage(`{"q":"fern","n":20}`)},
		{ID: "c3", Name: "clock", Args: json.RawMessage(`{}`)},
	}
	for name, interleave := range map[string]bool{"one after the other": false, "interleaved": true} {
		t.Run(name, func(t *testing.T) {
			script := NewModelScript(Response{Interleave: interleave, Reply: model.Reply{Text: "I look.", Calls: want, Stop: model.ToolUse}})
			reply, err := s.newModel(t, script, settings()).Generate(t.Context(), question(), func(model.Delta) {})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "calls", reply.Calls, want)
			if reply.Stop != model.ToolUse || reply.Text != "I look." {
				t.Errorf("stop %s, text %q", reply.Stop, reply.Text)
			}
		})
	}
}

// both runs a check with and without streaming.
func both(t *testing.T, check func(t *testing.T, stream func(model.Delta))) {
	t.Helper()
	t.Run("whole", func(t *testing.T) { check(t, nil) })
	t.Run("streamed", func(t *testing.T) { check(t, func(model.Delta) {}) })
}

func (s *modelSuite) truncated(t *testing.T) {
	answer := model.Reply{Text: "a reply that is cut in its middle", Stop: model.EndTurn}
	both(t, func(t *testing.T, stream func(model.Delta)) {
		script := NewModelScript(Response{Reply: answer, Cut: true})
		reply, err := s.newModel(t, script, settings()).Generate(t.Context(), question(), stream)
		var e *model.Error
		if reply != nil || !errors.As(err, &e) || e.Kind != model.Truncated {
			t.Errorf("reply %+v, error %v", reply, err)
		}
		set := settings()
		set.Retry.MaxAttempts = 2
		script = NewModelScript(Response{Reply: answer, Cut: true}, Response{Reply: answer})
		reply, err = s.newModel(t, script, set).Generate(t.Context(), question(), stream)
		if err != nil || reply.Text != answer.Text || reply.Attempts != 2 {
			t.Errorf("repeated: reply %+v, error %v", reply, err)
		}
	})
}

func (s *modelSuite) errors(t *testing.T) {
	kinds := map[int]model.ErrorKind{
		400: model.BadRequest, 401: model.AuthError, 403: model.AuthError, 404: model.NotFound, 422: model.BadRequest,
		429: model.RateLimited, 500: model.ServerError, 502: model.ServerError, 503: model.Overloaded, 504: model.ServerError, 529: model.Overloaded,
	}
	both(t, func(t *testing.T, stream func(model.Delta)) {
		for status, kind := range kinds {
			secret := settings().APIKey
			script := NewModelScript(Response{Status: status, RetryAfter: 7 * time.Second, RequestID: "q-1", Message: "no luck with " + secret})
			reply, err := s.newModel(t, script, settings()).Generate(t.Context(), question(), stream)
			var e *model.Error
			if reply != nil || !errors.As(err, &e) {
				t.Errorf("%d: reply %+v, error %v", status, reply, err)
				continue
			}
			if e.Kind != kind || e.Status != status || e.RetryAfter != 7*time.Second || e.RequestID != "q-1" || e.Attempts != 1 {
				t.Errorf("%d: %+v", status, e)
			}
			if !strings.Contains(e.Message, "no luck") || strings.Contains(err.Error(), secret) {
				t.Errorf("%d: message %q", status, err)
			}
		}
	})
}

func (s *modelSuite) repeats(t *testing.T) {
	set := settings()
	set.Retry = retry.Policy{MaxAttempts: 3}
	ok := Response{Reply: model.Reply{Text: "at last"}}
	tests := []struct {
		name     string
		script   []Response
		attempts int
		kind     model.ErrorKind
	}{
		{"rate limit", []Response{{Status: 429, RetryAfter: time.Second}, ok}, 2, ""},
		{"two faults", []Response{{Status: 500}, {Status: 529}, ok}, 3, ""},
		{"too many faults", []Response{{Status: 503}}, 3, model.Overloaded},
		{"the request", []Response{{Status: 400}, ok}, 1, model.BadRequest},
		{"the key", []Response{{Status: 401}, ok}, 1, model.AuthError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := NewModelScript(tt.script...)
			reply, err := s.newModel(t, script, set).Generate(t.Context(), question(), nil)
			if n := len(script.Requests()); n != tt.attempts {
				t.Errorf("%d requests, want %d", n, tt.attempts)
			}
			if tt.kind == "" {
				if err != nil || reply.Text != "at last" || reply.Attempts != tt.attempts {
					t.Errorf("reply %+v, error %v", reply, err)
				}
				return
			}
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Attempts != tt.attempts {
				t.Errorf("error %#v", err)
			}
		})
	}
}

func (s *modelSuite) cancellation(t *testing.T) {
	answer := model.Reply{Text: strings.Repeat("a long reply ", 50), Stop: model.EndTurn}
	for name, hang := range map[string]Hang{"before the answer": BeforeHeader, "in the answer": MidBody} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, stream func(model.Delta)) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				script := NewModelScript(Response{Reply: answer, Hang: hang})
				go func() {
					<-script.Hanging
					cancel()
				}()
				set := settings()
				set.Retry.MaxAttempts = 5
				reply, err := s.newModel(t, script, set).Generate(ctx, question(), stream)
				if reply != nil || !errors.Is(err, context.Canceled) || len(script.Requests()) != 1 {
					t.Errorf("reply %+v, error %v, %d requests", reply, err, len(script.Requests()))
				}
			})
		})
	}
	t.Run("before the call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		reply, err := s.newModel(t, NewModelScript(), settings()).Generate(ctx, question(), nil)
		if reply != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("reply %+v, error %v", reply, err)
		}
	})
}

func (s *modelSuite) timeLimit(t *testing.T) {
	set := settings()
	set.Timeout = 30 * time.Millisecond
	both(t, func(t *testing.T, stream func(model.Delta)) {
		script := NewModelScript(Response{Hang: BeforeHeader})
		reply, err := s.newModel(t, script, set).Generate(t.Context(), question(), stream)
		var e *model.Error
		if reply != nil || !errors.As(err, &e) || e.Kind != model.CallTimeout {
			t.Errorf("reply %+v, error %v", reply, err)
		}
	})
}

func (s *modelSuite) concurrency(t *testing.T) {
	m := s.newModel(t, NewModelScript(Response{Reply: model.Reply{Text: "one reply for all", Stop: model.EndTurn}}), settings())
	var all sync.WaitGroup
	for i := range 32 {
		var stream func(model.Delta)
		if i%2 == 0 {
			stream = func(model.Delta) {}
		}
		all.Go(func() {
			if reply, err := m.Generate(t.Context(), question(), stream); err != nil || reply.Text != "one reply for all" {
				t.Errorf("reply %+v, error %v", reply, err)
			}
		})
	}
	all.Wait()
}
