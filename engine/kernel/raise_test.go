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

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// raised is a run of two branches under a limit of rounds and one of time. One
// branch reads and asks at its limit for more; the other writes once a round.
type raised struct {
	limit, wrote int
	ended        []int // rounds that each branch ended
}

func (p *raised) main(s *kernel.Scope) error {
	p.ended = []int{0, 0}
	again := func() (time.Duration, bool) { return time.Hour, p.limit > 2 || s.ReevaluateLimits() }
	err := s.Deadline("", 150*time.Minute, again, func(s *kernel.Scope) error {
		return s.Parallel(2, name, func(i int, s *kernel.Scope) error { return p.branch(i, s) })
	})
	if err != nil && !errors.Is(err, kernel.ErrTimeout) {
		return err
	}
	_, err = eff(s, "last", time.Minute)
	return err
}

func (p *raised) branch(i int, s *kernel.Scope) error {
	for n := 1; ; n++ {
		for n > p.limit && s.ReevaluateLimits() {
		}
		if n > p.limit {
			return nil
		}
		class := journal.Read
		if i == 1 {
			class = journal.Write
		}
		_, err := kernel.Do(s, kernel.Effect[int]{Name: fmt.Sprint("e", n), Class: class, Perform: func(context.Context, string) (int, error) {
			time.Sleep(time.Duration(50+i*7) * time.Minute)
			if i == 1 {
				p.wrote++
			}
			return n, nil
		}})
		if err != nil {
			return err
		}
		p.ended[i]++
	}
}

// session runs the run once; how decides what becomes of writes in doubt.
func (p *raised) session(t *testing.T, j journal.Journal, more int, how map[string]string) error {
	t.Helper()
	o := kernel.Options{RunID: "r", Journal: j, Resolve: how, OnChange: func(b []byte) { _ = json.Unmarshal(b, &p.limit) }}
	if more > 0 {
		o.ChangeBody = func() []byte { return fmt.Append(nil, more) }
	}
	p.limit = 2
	_, err := runWith(t.Context(), o, p.main)
	return err
}

// standing is how many writes have a result that counts.
func standing(recs []journal.Record) (n int) {
	for _, rec := range journal.WithoutVoided(recs) {
		if rec.Kind == journal.Result && strings.HasPrefix(rec.Path, "b.1/") && !strings.HasSuffix(rec.Path, "/yield") {
			n++
		}
	}
	return n
}

// Sessions that raise the limit and sessions that die anywhere, in any order:
// no write is made again but by decision, and the run comes to its end.
func TestRaisesSurviveCuts(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			j := &journal.Memory{RoundTrip: true}
			limit := 2
			for range 8 {
				more := 0
				if rnd.IntN(2) == 0 {
					limit++
					more = limit
				}
				p, had, redone := &raised{}, standing(j.Records), 0
				err := p.session(t, j, more, nil)
				for review := (*kernel.NeedsReview)(nil); errors.As(err, &review); err = p.session(t, j, more, map[string]string{review.Path: "redo"}) {
					redone++
				}
				if now := standing(j.Records); err != nil || p.ended[1] != now || p.wrote != now-had || redone > 1 {
					t.Fatalf("seed %d: %v: %d writes stood, %d do, %d were made, %d of them redone", seed, err, had, now, p.wrote, redone)
				}
				if rnd.IntN(2) == 0 {
					j.Records = slices.Clone(j.Records[:1+rnd.IntN(len(j.Records))])
				}
			}
		})
	}
}
