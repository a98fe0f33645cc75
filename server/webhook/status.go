package webhook

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Status is the state of a hook for one tenant.
type Status struct {
	Name      string
	Receiver  string   // its address without the path
	Events    []string // types
	Agents    []string // nil = all
	Disabled  bool     // the receiver replied 410
	Pending   int      // messages that wait for an attempt
	Delivered int      // since the start
	Failed    int      // given up since the start
	LastError *Failure // nil = none since the start
}

// List returns the hooks of the tenant, by name.
func (b *Outbox) List() []Status {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	out := []Status{}
	for _, name := range slices.Sorted(maps.Keys(b.d.senders)) {
		s := b.d.senders[name]
		if !s.hook.takesTenant(b.Name) {
			continue
		}
		st := b.statsOf(name)
		x := Status{Name: name, Receiver: s.hook.origin(), Agents: s.hook.Agents, Disabled: s.gone, Delivered: st.delivered, Failed: st.failed, LastError: st.last}
		for _, kind := range s.hook.Events {
			x.Events = append(x.Events, string(kind))
		}
		for _, r := range b.runs {
			if of := r.streams[name]; of != nil {
				x.Pending += of.waiting
			}
		}
		out = append(out, x)
	}
	return out
}

// testType is the type of messages that Test sends.
const testType = "webhook.test"

// Tested is the outcome of a test.
type Tested struct {
	Status   int // of the response; 0 = none
	Duration time.Duration
	Err      error // nil = accepted; without addresses
}

// Test sends a message of type webhook.test to the receiver of a hook, once. It returns false
// if the tenant has no such hook.
func (b *Outbox) Test(ctx context.Context, name string) (Tested, bool) {
	b.d.mu.Lock()
	s := b.d.senders[name]
	b.d.mu.Unlock()
	if s == nil || !s.hook.takesTenant(b.Name) {
		return Tested{}, false
	}
	now := time.Now()
	at := now.UTC()
	out := s.send(ctx, message{
		id: messageID(b.Name, "", at.Format(time.RFC3339Nano), name, testType),
		body: jsonvalue.Encode(payload{testType, at, struct {
			Tenant  string `json:"tenant"`
			Webhook string `json:"webhook"`
		}{b.Name, name}}),
	})
	if out.err == nil {
		return Tested{Status: out.status, Duration: time.Since(now)}, true
	}
	b.d.o.Log.Warn("a test of a webhook failed", "webhook", name, "tenant", b.Name, "receiver", s.hook.origin(), "error", out.err)
	return Tested{out.status, time.Since(now), clientError(out.err)}, true
}

// stats counts what happened to the messages of a hook since the start.
type stats struct {
	delivered, failed int
	last              *Failure
}

// Failure is a failed attempt.
type Failure struct {
	At      time.Time
	Run     string
	Cursor  string
	Type    string
	Attempt int
	Error   string // without addresses
}

// statsOf returns the counts of a hook. The caller holds mu.
func (b *Outbox) statsOf(hook string) *stats {
	s := b.stats[hook]
	if s == nil {
		s = &stats{}
		b.stats[hook] = s
	}
	return s
}
