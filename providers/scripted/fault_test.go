package scripted_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/providers/scripted"
)

func TestRetryableErrorsAreRetried(t *testing.T) {
	policy := retry.Policy{MaxAttempts: 3, InitialDelay: time.Second, Jitter: true}
	fails := func(status int, after time.Duration) scripted.Reply {
		return scripted.Reply{Delay: 10 * time.Second, Error: &scripted.Failure{Status: status, RetryAfter: after, Message: "m"}}
	}
	ok := scripted.Reply{Text: "ok", Delay: 10 * time.Second}
	tests := []struct {
		name     string
		retry    retry.Policy
		replies  []scripted.Reply
		kind     model.ErrorKind
		attempts int
		delay    time.Duration
	}{
		{"passes at last", policy, []scripted.Reply{fails(500, 0), fails(529, 0), ok}, "", 3, 33 * time.Second},
		{"asks to wait", policy, []scripted.Reply{fails(429, 7*time.Second), ok}, "", 2, 27 * time.Second},
		{"the network", policy, []scripted.Reply{fails(0, 0), ok}, "", 2, 21 * time.Second},
		{"too often", policy, []scripted.Reply{fails(500, 0), fails(500, 0), fails(502, 0), ok}, model.ServerError, 3, 33 * time.Second},
		{"not for ever wrong", policy, []scripted.Reply{fails(400, 0), ok}, model.BadRequest, 1, 10 * time.Second},
		{"not the key", policy, []scripted.Reply{fails(401, 0), ok}, model.AuthError, 1, 10 * time.Second},
		{"no policy", retry.Policy{}, []scripted.Reply{fails(429, 0), ok}, model.RateLimited, 1, 10 * time.Second},
		{"nothing else written", policy, []scripted.Reply{fails(503, 0)}, model.Overloaded, 1, 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel(t, model.Settings{Retry: tt.retry}, tt.replies...)
			chosen := m.(model.Sequenced).Choose(&model.Request{})
			if d := chosen.(model.Delayed).Delay(); d != tt.delay {
				t.Errorf("delay %v, want %v", d, tt.delay)
			}
			r, err := chosen.Generate(t.Context(), &model.Request{}, nil)
			if tt.kind == "" {
				if err != nil || r.Text != "ok" || r.Attempts != tt.attempts {
					t.Errorf("reply %+v, %v", r, err)
				}
				return
			}
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.Attempts != tt.attempts || e.Message != "m" {
				t.Errorf("error %#v", err)
			}
		})
	}
}

func TestWaitBeyondMaxDelayEndsTheCall(t *testing.T) {
	for most, says := range map[time.Duration]string{0: "30s", 2 * time.Second: "2s"} {
		retry := retry.Policy{MaxAttempts: 3, MaxDelay: most}
		slow := scripted.Reply{Error: &scripted.Failure{Status: 429, RetryAfter: time.Hour, Message: "m"}}
		m := newModel(t, model.Settings{Retry: retry}, slow, scripted.Reply{Text: "ok"})
		chosen := m.(model.Sequenced).Choose(&model.Request{})
		_, err := chosen.Generate(t.Context(), &model.Request{}, nil)
		e := model.AsError(err)
		want := "m; the server asks to wait 1h0m0s, longer than retry.max_delay (" + says + ")"
		if d := chosen.(model.Delayed).Delay(); d != 0 || e == nil || e.Kind != model.RateLimited || e.Attempts != 1 || e.Message != want {
			t.Errorf("delay %v, error %v", d, err)
		}
	}
}

func TestDelayBeyondTheTimeoutFails(t *testing.T) {
	policy := retry.Policy{MaxAttempts: 3, InitialDelay: time.Second}
	refused := &scripted.Failure{Status: 401, Message: "m"}
	tests := []struct {
		name    string
		timeout time.Duration
		reply   scripted.Reply
		kind    model.ErrorKind
		delay   time.Duration
	}{
		{"in time", 3 * time.Second, scripted.Reply{Text: "ok", Delay: 3 * time.Second}, "", 3 * time.Second},
		{"too late", 3 * time.Second, scripted.Reply{Text: "late", Delay: 4 * time.Second}, model.CallTimeout, 3 * time.Second},
		{"an error too late", 3 * time.Second, scripted.Reply{Error: refused, Delay: 4 * time.Second}, model.CallTimeout, 3 * time.Second},
		{"an error in time", 3 * time.Second, scripted.Reply{Error: refused, Delay: time.Second}, model.AuthError, time.Second},
		{"no bound", 0, scripted.Reply{Text: "ok", Delay: time.Hour}, "", time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel(t, model.Settings{Retry: policy, Timeout: tt.timeout}, tt.reply, scripted.Reply{Text: "another"})
			chosen := m.(model.Sequenced).Choose(&model.Request{})
			if d := chosen.(model.Delayed).Delay(); d != tt.delay {
				t.Errorf("delay %v, want %v", d, tt.delay)
			}
			reply, err := chosen.Generate(t.Context(), &model.Request{}, nil)
			if tt.kind == "" {
				if err != nil || reply.Text != "ok" {
					t.Errorf("reply %+v, %v", reply, err)
				}
				return
			}
			if e := model.AsError(err); e == nil || e.Kind != tt.kind || e.Attempts != 1 {
				t.Errorf("error %#v", err)
			}
		})
	}
}

func TestMissingReplySuggestsAFix(t *testing.T) {
	never := when("call == 9", func(map[string]any) (bool, error) { return false, nil })
	tests := []struct {
		name    string
		replies []scripted.Reply
		used    int
		want    string
	}{
		{
			"none for the role",
			[]scripted.Reply{{Role: "planner"}},
			0, `the script of main has no reply left for the executor's call 3 in step "look"; of its 1 replies 0 are for this role: add a reply such as {role: executor, text: ...}`,
		},
		{
			"all used up",
			[]scripted.Reply{{}},
			1, `the script of main has no reply left for the executor's call 3 in step "look"; of its 1 replies 1 are for this role, all used up: add a reply such as {role: executor, text: ...}, or set ` + "`times: 0`" + ` on one`,
		},
		{
			"conditions do not hold",
			[]scripted.Reply{{When: never}, {When: never, Role: "executor"}},
			0, `the script of main has no reply left for the executor's call 3 in step "look"; of its 2 replies 2 are for this role, 2 of them not used up, but no condition holds: add a reply such as {role: executor, text: ...}, or loosen a ` + "`when:`",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newModel(t, model.Settings{Name: "main"}, tt.replies...)
			req := model.Request{Role: "executor", Call: 3, Step: "look"}
			for range tt.used {
				texts(t, m, req)
			}
			_, err := m.Generate(t.Context(), &req, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != model.NoReply || e.Message != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestConditionErrorNamesTheReply(t *testing.T) {
	m := newModel(t, model.Settings{}, scripted.Reply{When: when("step[9]", func(map[string]any) (bool, error) {
		return false, errors.New("index out of range")
	})})
	_, err := m.Generate(t.Context(), &model.Request{}, nil)
	if err == nil || !strings.Contains(err.Error(), "condition of reply 1 of the script (step[9]): index out of range") {
		t.Errorf("error %v", err)
	}
}

func TestInvalidRepliesAreRejected(t *testing.T) {
	tests := []struct {
		name  string
		reply scripted.Reply
		want  string
	}{
		{"negative times", scripted.Reply{Times: new(-1)}, "reply 1 of the script: times is -1"},
		{"arguments that are no JSON", scripted.Reply{ToolCalls: []scripted.ToolCall{{Name: "t", Arguments: func() {}}}}, "arguments of t"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := scripted.New(&scripted.Config{Replies: []scripted.Reply{tt.reply}}, model.Settings{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestPriorAttemptsCount(t *testing.T) {
	policy := retry.Policy{MaxAttempts: 4, InitialDelay: time.Second}
	fault := scripted.Reply{Error: &scripted.Failure{Status: 529, Message: "m"}, Times: new(0)}
	req := &model.Request{PriorAttempts: 2}
	chosen := newModel(t, model.Settings{Retry: policy}, fault).(model.Sequenced).Choose(req)
	_, err := chosen.Generate(t.Context(), req, nil)
	if e := model.AsError(err); e == nil || e.Attempts != 2 || chosen.(model.Delayed).Delay() != 4*time.Second {
		t.Errorf("delay %v: %#v", chosen.(model.Delayed).Delay(), e)
	}
}

func TestBillableErrorsAreNotRetriedWhenMetered(t *testing.T) {
	for status, want := range map[int]int{0: 1, 529: 2} {
		m := newModel(t, model.Settings{Retry: retry.Policy{MaxAttempts: 3}},
			scripted.Reply{Error: &scripted.Failure{Status: status, Message: "m"}}, scripted.Reply{Text: "ok"})
		req := &model.Request{Metered: true}
		reply, err := m.(model.Sequenced).Choose(req).Generate(t.Context(), req, nil)
		attempts := 0
		if e := (*model.Error)(nil); errors.As(err, &e) {
			attempts = e.Attempts
		} else if err == nil {
			attempts = reply.Attempts
		}
		if attempts != want {
			t.Errorf("HTTP %d: %d attempts, want %d", status, attempts, want)
		}
	}
}
