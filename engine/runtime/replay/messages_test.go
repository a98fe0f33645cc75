package replay_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// talk is a run of parallel branches whose requests contain the messages so far.
type talk struct {
	branches, turns int
	received        []string
	requests        map[string]string // request by path
}

func (p *talk) run(t *testing.T, j journal.Journal, o kernel.Options) {
	t.Helper()
	p.received, p.requests = nil, map[string]string{}
	o.RunID, o.Journal, o.Virtual = "r", j, true
	o.OnMessage = func(m kernel.Message, _ time.Time) { p.received = append(p.received, m.ID) }
	_, err := kernel.Run(t.Context(), o, func(s *kernel.Scope, _ []byte) error {
		err := s.Parallel(p.branches, func(i int) string { return fmt.Sprint("b.", i) }, func(i int, s *kernel.Scope) error {
			for n := range p.turns {
				if err := p.ask(s, fmt.Sprint("turn.", n), time.Duration(i*7+n*3)*time.Second); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return p.ask(s, "answer", 0)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p *talk) ask(s *kernel.Scope, name string, d time.Duration) error {
	prompt := strings.Join(p.received, ",")
	p.requests[strings.TrimPrefix(s.Path()+"/"+name, "/")] = prompt
	_, err := kernel.Do(s, kernel.Effect[string]{
		Name: name, Class: journal.Read, Layer: replay.LayerMemory, Digest: journal.DigestOf([]byte(prompt)), Delay: d,
		Perform: func(context.Context, string) (string, error) { return "reply to " + prompt, nil },
	})
	return err
}

// poster posts messages when the journal has a number of records.
type poster struct {
	journal.Memory
	inbox *kernel.Inbox
	plan  map[int]string // ids of messages
}

func (p *poster) Append(recs []journal.Record) (*journal.Ticket, error) {
	before := len(p.Records)
	t, err := p.Memory.Append(recs)
	for n := before + 1; n <= len(p.Records); n++ {
		if id := p.plan[n]; id != "" {
			p.inbox.Post(kernel.Message{ID: id, Text: id})
		}
	}
	return t, err
}

// Replays, and forks at every request, deliver the messages of the recorded run where it
// had them, those that were journaled without a session included.
func TestMessagesAreDeliveredWhereTheyWereRecorded(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 52))
		p := talk{branches: 1 + r.IntN(4), turns: 1 + r.IntN(4)}
		plan := map[int]string{}
		for n := range 4 {
			plan[1+r.IntN(2*p.branches*p.turns+2)] = fmt.Sprint("m", n)
		}
		j := &poster{Memory: journal.Memory{RoundTrip: true}, inbox: &kernel.Inbox{}, plan: plan}
		p.run(t, j, kernel.Options{Inbox: j.inbox})
		recs := j.Records
		if seed%2 == 1 { // killed, then a message without a session
			cut := &journal.Memory{RoundTrip: true, Records: slices.Clone(recs[:1+r.IntN(len(recs)-1)])}
			if err := kernel.AppendMessage(cut, kernel.Message{ID: "offline", Text: "x"}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			p.run(t, cut, kernel.Options{})
			recs = cut.Records
		}
		want, received := p.requests, slices.Clone(p.received)
		before, requested := 0, map[string]string{}
		for i := range recs {
			rec := &recs[i]
			if rec.Kind == journal.Said {
				before++
			}
			if rec.Kind != journal.Intent && rec.Kind != journal.End {
				continue
			}
			o := replay.Options{Until: rec.Seq}
			if rec.Kind == journal.End {
				o.Until = 0
			}
			again := &journal.Memory{RoundTrip: true}
			p.run(t, again, kernel.Options{Recorded: replay.New(recs, o)})
			if !slices.Equal(p.received, received[:before]) {
				t.Fatalf("seed %d, at %s: received %q, want %q", seed, rec.Path, p.received, received[:before])
			}
			got := map[string]string{}
			for path := range requested {
				got[path] = p.requests[path]
			}
			if d := cmp.Diff(requested, got); d != "" {
				t.Fatalf("seed %d, at %s: requests differ (-recorded +got):\n%s", seed, rec.Path, d)
			}
			requests := p.requests
			p.run(t, again, kernel.Options{Recorded: replay.New(recs, o)}) // the journal of the fork
			if d := cmp.Diff(requests, p.requests); d != "" {
				t.Fatalf("seed %d, at %s: resumed, the fork differs:\n%s", seed, rec.Path, d)
			}
			requested[rec.Path] = want[rec.Path]
		}
	}
}
