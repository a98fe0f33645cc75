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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// duplex is a run whose branches talk to a model, call tools and ask questions while messages
// arrive. The last request contains all messages.
type duplex struct {
	seed            uint64
	branches, turns int
	received        []string
	requests        map[string][]string // by path
	events          []string            // of all sessions
}

func (p *duplex) options(j journal.Journal) kernel.Options {
	p.received, p.requests = nil, map[string][]string{}
	return kernel.Options{
		RunID: "r", Journal: j, Virtual: true,
		OnMessage: func(m kernel.Message, _ time.Time) { p.received = append(p.received, m.ID) },
	}
}

func (p *duplex) main(s *kernel.Scope) error {
	err := s.Parallel(p.branches, name, func(i int, s *kernel.Scope) error {
		for n := range p.turns {
			if err := p.turn(s, i, n); err != nil {
				return err
			}
		}
		return nil
	})
	for n := 0; err == nil; n++ {
		before := len(p.received)
		if err = p.model(s, fmt.Sprint("answer.", n), time.Second); len(p.received) == before {
			break
		}
	}
	return err
}

// turn is a request to the model and what its reply asks for.
func (p *duplex) turn(s *kernel.Scope, branch, n int) error {
	r := rand.New(rand.NewPCG(p.seed, uint64(branch*100+n)))
	if err := p.model(s, fmt.Sprint("turn.", n), time.Duration(r.IntN(9))*time.Second); err != nil {
		return err
	}
	var err error
	switch what := r.IntN(5); what {
	case 0, 1:
		_, err = kernel.Do(s, kernel.Effect[string]{
			Name: fmt.Sprint("tool.", n), Class: []journal.Class{journal.Read, journal.Write}[what], Digest: digest("tool"), Delay: time.Duration(r.IntN(9)) * time.Second,
			Perform: func(_ context.Context, key string) (string, error) { return "result", nil },
		})
	case 2:
		_, err = kernel.Ask[string](s, kernel.Question{Name: fmt.Sprint("ask.", n), Digest: digest("ask"), Request: func() []byte { return []byte(`{}`) }})
	}
	p.emit(s, fmt.Sprint("end of ", s.Path(), " ", n))
	return err
}

// model sends the messages so far, again if a message interrupts it.
func (p *duplex) model(s *kernel.Scope, name string, d time.Duration) error {
	for again := ""; ; again += "+" {
		prompt := strings.Join(p.received, ",")
		path := s.Path() + "/" + name + again
		p.requests[path] = append(p.requests[path], prompt)
		p.emit(s, path+" sends "+prompt)
		_, err := kernel.Do(s, kernel.Effect[string]{
			Name: name + again, Class: journal.Read, Digest: digest(prompt), Delay: d, Interruptible: true,
			Perform: func(context.Context, string) (string, error) { return "reply to " + prompt, nil },
		})
		if !errors.Is(err, kernel.ErrInterrupting) {
			return err
		}
		p.emit(s, path+" was interrupted")
	}
}

// emit reports an event, each of which is reported once. The session after one that stopped for
// a write in doubt may report the last ones again.
func (p *duplex) emit(s *kernel.Scope, event string) {
	s.Emit(func() {
		if !slices.Contains(p.events, event) {
			p.events = append(p.events, event)
		}
	})
}

// duplexJournal posts messages and suspends the session when it has certain numbers of records.
type duplexJournal struct {
	journal.Memory

	plan    map[int]kernel.Message
	stops   map[int]bool
	inbox   *kernel.Inbox
	suspend context.CancelFunc
	sent    []*kernel.Delivery // to this session
	of      []kernel.Message
}

func (j *duplexJournal) Append(recs []journal.Record) (*journal.Ticket, error) {
	before := len(j.Records)
	t, err := j.Memory.Append(recs)
	for n := before + 1; n <= len(j.Records); n++ {
		if m, ok := j.plan[n]; ok {
			j.of, j.sent = append(j.of, m), append(j.sent, j.inbox.Post(m))
		}
		if j.stops[n] {
			j.suspend()
		}
	}
	return t, err
}

// session runs the next session, and returns whether the run has ended.
func (p *duplex) session(t *testing.T, j *duplexJournal, answers, resolve map[string]string) (ended bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j.inbox, j.suspend, j.sent, j.of = &kernel.Inbox{}, cancel, nil, nil
	o := p.options(j)
	o.Inbox, o.Resolve, o.Answers = j.inbox, resolve, map[string]json.RawMessage{}
	for path, answer := range answers {
		o.Answers[path] = json.RawMessage(answer)
	}
	_, err := runWith(ctx, o, p.main)
	var parked *kernel.Parked
	var review *kernel.NeedsReview
	switch {
	case err == nil:
		ended = true
	case errors.As(err, &parked):
		answers[parked.Questions[int(p.seed)%len(parked.Questions)].Path] = `"yes"`
	case errors.As(err, &review):
		for _, w := range review.Writes {
			resolve[w.Path] = "redo"
		}
	case !errors.Is(err, kernel.ErrSuspended):
		t.Fatalf("seed %d: %v", p.seed, err)
	}
	for i, d := range j.sent { // the client sends again what the session did not accept
		err := d.Wait(t.Context())
		if errors.Is(err, kernel.ErrInboxClosed) {
			err = kernel.AppendMessage(j, j.of[i], time.Unix(9, 0))
		}
		if err != nil && (!ended || !errors.Is(err, kernel.ErrInboxClosed)) {
			t.Fatalf("seed %d: message %s: %v", p.seed, j.of[i].ID, err)
		}
	}
	return ended
}

// Messages, interrupts, answers, tool results, suspensions and resumes come at random points of
// 1,000 runs. Each message is received once, in the order in which it was sent, and is in the last
// request; a replay of the journal has the same requests and events.
func TestDuplexInterleavings(t *testing.T) {
	interrupted, suspended := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 72))
		p := &duplex{seed: seed, branches: 1 + r.IntN(3), turns: 1 + r.IntN(4)}
		j := &duplexJournal{Memory: journal.Memory{RoundTrip: true}, plan: map[int]kernel.Message{}, stops: map[int]bool{}}
		length := 5 * p.branches * p.turns
		for range r.IntN(6) {
			j.plan[1+r.IntN(length)] = kernel.Message{}
		}
		next := 0
		for n := range length + 1 {
			if _, ok := j.plan[n]; ok {
				j.plan[n] = kernel.Message{ID: fmt.Sprint("m", next), Text: "x", Interrupt: r.IntN(2) == 0}
				next++
			}
		}
		for range r.IntN(4) {
			j.stops[1+r.IntN(length)] = true
		}
		answers, resolve := map[string]string{}, map[string]string{}
		for sessions := 0; !p.session(t, j, answers, resolve); sessions++ {
			if sessions > 50 {
				t.Fatalf("seed %d: the run does not end", seed)
			}
			suspended++
		}
		ids := messagesOf(j.Records)
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) || !slices.Equal(ids, p.received) {
			t.Fatalf("seed %d: the journal has %q, the run received %q", seed, ids, p.received)
		}
		last := slices.MaxFunc(slices.Collect(func(yield func(string) bool) {
			for path, prompts := range p.requests {
				if strings.HasPrefix(path, "/answer.") && !yield(prompts[0]) {
					return
				}
			}
		}), func(a, b string) int { return len(a) - len(b) })
		if last != strings.Join(ids, ",") {
			t.Fatalf("seed %d: the last request has %q, the journal %q", seed, last, ids)
		}
		requests, events := p.requests, p.events
		p.events = nil
		o := p.options(journal.Frozen(j.Records))
		o.EmitOnReplay, o.Follow = true, func() ([]journal.Record, error) { return nil, nil }
		if _, err := runWith(t.Context(), o, p.main); err != nil {
			t.Fatalf("seed %d: replay: %v", seed, err)
		}
		if d := cmp.Diff(requests, p.requests) + cmp.Diff(events, p.events); d != "" {
			t.Fatalf("seed %d: the replay differs (-run +replay):\n%s", seed, d)
		}
		for _, event := range events {
			if strings.HasSuffix(event, "was interrupted") {
				interrupted++
			}
		}
	}
	if interrupted < 200 || suspended < 500 {
		t.Errorf("%d calls were interrupted, %d sessions did not end their run", interrupted, suspended)
	}
}
