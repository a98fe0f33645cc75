package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// talk is a run whose requests contain the messages that it has received.
type talk struct {
	branches, turns int
	received        []string
	requests        map[string][]string // by branch: what its requests contained, in order
	interrupted     int
}

func (p *talk) options(j journal.Journal) kernel.Options {
	p.received, p.requests, p.interrupted = nil, map[string][]string{}, 0
	return kernel.Options{
		RunID: "r", Journal: j, Virtual: true,
		OnMessage: func(m kernel.Message, at time.Time) { p.received = append(p.received, m.ID+"="+m.Text) },
	}
}

func (p *talk) main(s *kernel.Scope) error {
	if err := p.ask(s, "plan", 0); err != nil {
		return err
	}
	err := s.Parallel(p.branches, name, func(i int, s *kernel.Scope) error {
		for n := range p.turns {
			if err := p.ask(s, fmt.Sprint("turn.", n), time.Duration(i*7+n*3)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.ask(s, "answer", 0)
}

// ask performs an effect whose request contains the messages so far, again if a message
// interrupts it.
func (p *talk) ask(s *kernel.Scope, name string, d time.Duration) error {
	for again := ""; ; again += "+" {
		prompt := strings.Join(p.received, "\n")
		p.requests[s.Path()] = append(p.requests[s.Path()], prompt)
		_, err := kernel.Do(s, kernel.Effect[string]{
			Name: name + again, Class: journal.Read, Digest: digest(prompt), Delay: d * time.Second, Interruptible: true,
			Perform: func(context.Context, string) (string, error) { return "reply to " + prompt, nil },
		})
		if !errors.Is(err, kernel.ErrInterrupting) {
			return err
		}
		p.interrupted++
	}
}

// poster posts messages when the journal has a number of records.
type poster struct {
	journal.Memory
	inbox *kernel.Inbox
	plan  map[int][]kernel.Message // by number of records
	sent  []*kernel.Delivery
}

func (p *poster) Append(recs []journal.Record) (*journal.Ticket, error) {
	before := len(p.Records)
	t, err := p.Memory.Append(recs)
	for n := before + 1; n <= len(p.Records); n++ {
		for _, m := range p.plan[n] {
			p.sent = append(p.sent, p.inbox.Post(m))
		}
	}
	return t, err
}

// follow returns what a follower of the records sees.
func follow(t *testing.T, p talk, recs []journal.Record) (received []string, requests map[string][]string) {
	t.Helper()
	o := p.options(journal.Frozen(recs))
	o.Follow = func() ([]journal.Record, error) { return nil, nil }
	if _, err := runWith(t.Context(), o, p.main); err != nil {
		t.Fatalf("follow: %v", err)
	}
	return p.received, p.requests
}

func messagesOf(recs []journal.Record) (ids []string) {
	for i := range recs {
		if recs[i].Kind == journal.Said {
			ids = append(ids, kernel.MessageOf(&recs[i]).ID)
		}
	}
	return ids
}

// A run with messages is killed after every record. A client sends again what was not
// acknowledged, to the next session or to the journal. Every run over the joined journal
// then has the same requests, and each message once.
func TestMessagesSurviveAKillAtEveryRecord(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 52))
		p := talk{branches: 1 + r.IntN(4), turns: 1 + r.IntN(4)}
		all, plan := []kernel.Message{}, map[int][]kernel.Message{}
		for n := range 1 + r.IntN(5) {
			m := kernel.Message{ID: fmt.Sprint("m", n), Text: fmt.Sprint("text ", r.IntN(100)), By: json.RawMessage(`{"user":"kim"}`)}
			m.Interrupt = r.IntN(2) == 0
			at := 1 + r.IntN(2*p.branches*p.turns+4)
			all, plan[at] = append(all, m), append(plan[at], m)
		}
		whole := &poster{Memory: journal.Memory{RoundTrip: true}, inbox: &kernel.Inbox{}, plan: plan}
		o := p.options(whole)
		o.Inbox = whole.inbox
		if _, err := runWith(t.Context(), o, p.main); err != nil {
			t.Fatal(err)
		}
		requests := p.requests
		received, again := follow(t, p, whole.Records)
		if d := cmp.Diff(requests, again); d != "" || len(received) != len(messagesOf(whole.Records)) {
			t.Fatalf("seed %d: a replay differs: %s", seed, d)
		}
		for cut := 1; cut < len(whole.Records); cut++ {
			for _, offline := range []bool{false, true} {
				j := &journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:cut])}
				o, inbox := p.options(j), &kernel.Inbox{}
				o.Inbox = inbox
				for _, m := range all {
					if offline {
						if err := kernel.AppendMessage(j, m, time.Unix(9, 0)); err != nil {
							t.Fatal(err)
						}
					}
					inbox.Post(m)
				}
				if _, err := runWith(t.Context(), o, p.main); err != nil {
					t.Fatalf("seed %d, cut %d, offline %v: %v", seed, cut, offline, err)
				}
				if ids := messagesOf(j.Records); len(ids) != len(all) || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != len(all) {
					t.Fatalf("seed %d, cut %d, offline %v: the journal has %v", seed, cut, offline, ids)
				}
				requests, received := p.requests, p.received
				gotReceived, gotRequests := follow(t, p, j.Records)
				if d := cmp.Diff(requests, gotRequests) + cmp.Diff(received, gotReceived); d != "" {
					t.Fatalf("seed %d, cut %d, offline %v: the replay differs (-session +replay):\n%s", seed, cut, offline, d)
				}
			}
		}
	}
}

// A message is durable before Wait returns, and the next request contains it. The same
// message again changes nothing.
func TestMessageReachesARunThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, inbox, p := &journal.Memory{RoundTrip: true}, &kernel.Inbox{}, talk{branches: 1, turns: 3}
		o := p.options(j)
		o.Virtual, o.Inbox = false, inbox
		go func() {
			time.Sleep(time.Second)
			for range 2 {
				if err := inbox.Post(kernel.Message{ID: "a", Text: "one"}).Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := inbox.Post(kernel.Message{ID: "a", Text: "two"}).Wait(t.Context()); !errors.Is(err, kernel.ErrMessageConflict) {
				t.Errorf("another text: %v", err)
			}
		}()
		if _, err := runWith(t.Context(), o, p.main); err != nil {
			t.Fatal(err)
		}
		if ids := messagesOf(j.Records); !slices.Equal(ids, []string{"a"}) {
			t.Errorf("the journal has %v", ids)
		}
		if got, want := p.requests["b.0"], []string{"", "", "a=one"}; !slices.Equal(got, want) {
			t.Errorf("requests have %q, want %q", got, want)
		}
		if err := inbox.Post(kernel.Message{ID: "b", Text: "late"}).Wait(t.Context()); !errors.Is(err, kernel.ErrInboxClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A message that arrives during the grace time, or behind the end of a session, is in the
// first request of the next one.
func TestMessageToASuspendedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, inbox, p := &journal.Memory{RoundTrip: true}, &kernel.Inbox{}, talk{branches: 2, turns: 3}
		o := p.options(j)
		o.Virtual, o.Inbox, o.Grace = false, inbox, time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(2 * time.Second)
			cancel()
			time.Sleep(500 * time.Millisecond)
			if err := inbox.Post(kernel.Message{ID: "a", Text: "one"}).Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		if _, err := runWith(ctx, o, p.main); !errors.Is(err, kernel.ErrSuspended) {
			t.Fatal(err)
		}
		if err := kernel.AppendMessage(j, kernel.Message{ID: "b", Text: "two"}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		o = p.options(j)
		if _, err := runWith(t.Context(), o, p.main); err != nil {
			t.Fatal(err)
		}
		for branch, requests := range p.requests {
			if want := "a=one\nb=two"; branch != "" && !slices.Contains(requests, want) || strings.Contains(requests[0], "one") {
				t.Errorf("%s has %q", branch, requests)
			}
		}
		requests := p.requests
		if _, again := follow(t, p, j.Records); !cmp.Equal(requests, again) {
			t.Error("the replay differs: " + cmp.Diff(requests, again))
		}
	})
}

// A raised limit voids the end of a run, and keeps the messages that came behind the limit.
func TestMessageBehindARaisedLimitIsKept(t *testing.T) {
	l := limited{limit: 2}
	inbox := &kernel.Inbox{}
	j := &poster{Memory: journal.Memory{RoundTrip: true}, inbox: inbox, plan: map[int][]kernel.Message{6: {{ID: "late", Text: "more"}}}}
	var received []string
	receive := func(m kernel.Message, _ time.Time) { received = append(received, m.ID+fmt.Sprint(l.limit)) }
	o := l.options(j, 0)
	o.Inbox, o.OnMessage = inbox, receive
	if _, err := runWith(t.Context(), o, l.main); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the session that raises the limit, and a replay of it
		received, l.limit = nil, 2
		o = l.options(j, 4)
		o.OnMessage = receive
		if _, err := runWith(t.Context(), o, l.main); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(received, []string{"late4"}) {
			t.Fatalf("received %q", received)
		}
	}
	if ids := messagesOf(journal.WithoutVoided(j.Records)); !slices.Equal(ids, []string{"late"}) {
		t.Errorf("the journal has %v", ids)
	}
}

func TestRunAcceptsALimitedNumberOfMessages(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	if err := kernel.AppendMessage(j, kernel.Message{ID: "a", Text: "x"}, time.Unix(1, 0)); !errors.Is(err, kernel.ErrInboxClosed) {
		t.Errorf("a run that does not exist: %v", err)
	}
	if err := kernel.Begin(j, "r", []byte(`{}`), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for n := range kernel.MaxMessages {
		if err := kernel.AppendMessage(j, kernel.Message{ID: fmt.Sprint(n), Text: "x"}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]error{"more": kernel.ErrTooManyMessages, "7": nil} {
		if err := kernel.AppendMessage(j, kernel.Message{ID: id, Text: "x"}, time.Unix(1, 0)); !errors.Is(err, want) {
			t.Errorf("message %s: %v, want %v", id, err, want)
		}
	}
	p := talk{branches: 1, turns: 1}
	if _, err := runWith(t.Context(), p.options(j), p.main); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(p.requests[""][0], "\n"); n != kernel.MaxMessages-1 {
		t.Errorf("the first request of a queued run has %d messages", n+1)
	}
	for id, want := range map[string]error{"more": kernel.ErrInboxClosed, "7": nil} {
		if err := kernel.AppendMessage(j, kernel.Message{ID: id, Text: "x"}, time.Unix(1, 0)); !errors.Is(err, want) {
			t.Errorf("message %s to a run that has ended: %v, want %v", id, err, want)
		}
	}
}

// A follower that is past the record a message belongs to has to start again.
func TestFollowerOfAMessageToACrashedRun(t *testing.T) {
	j, p := &journal.Memory{RoundTrip: true}, talk{branches: 1, turns: 1}
	if err := kernel.Begin(j, "r", []byte(`{}`), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	o := p.options(journal.Frozen(slices.Clone(j.Records)))
	o.Follow = func() ([]journal.Record, error) {
		before := len(j.Records)
		err := kernel.AppendMessage(j, kernel.Message{ID: "a", Text: "x"}, time.Unix(1, 0))
		return j.Records[before:], err
	}
	if _, err := runWith(t.Context(), o, p.main); !errors.Is(err, kernel.ErrRewound) {
		t.Errorf("error %v, want ErrRewound", err)
	}
}
