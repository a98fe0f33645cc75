package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// fickle answers from a hash of the key, after a random time, and counts what
// it performs.
type fickle struct {
	mu     sync.Mutex
	counts map[string]int
	upTo   time.Duration
	nonce  bool // replies differ on every performance, as a real model's do
}

func newWorld(upTo time.Duration) *fickle { return &fickle{counts: map[string]int{}, upTo: upTo} }

func (w *fickle) perform(key string) (n int) {
	w.mu.Lock()
	w.counts[key]++
	n = w.counts[key]
	w.mu.Unlock()
	if w.upTo > 0 {
		time.Sleep(rand.N(w.upTo))
	}
	return n
}

func (w *fickle) model(_ context.Context, key, prompt string) (reply, error) {
	n := w.perform(key)
	seed := key + prompt
	if w.nonce {
		seed += fmt.Sprint(n, rand.Uint64())
	}
	x := hash(seed)
	r := reply{Tokens: 20 + int(x%80), Text: fmt.Sprintf("t%x", x>>48)}
	if (x>>8)%4 != 0 && strings.Contains(key, "/turn.") {
		r.Call, r.Write = fmt.Sprintf("call%x", (x>>16)&0xffff), (x>>40)%3 == 0
	}
	return r, nil
}

func (w *fickle) tool(_ context.Context, key, args string, _ bool) (string, error) {
	w.perform(key)
	x := hash(key + args)
	if x%7 == 0 {
		return "", errors.New("the tool says no")
	}
	return fmt.Sprintf("r%x", x>>44), nil
}

// delay is an effect's scripted time.
func delay(path string) time.Duration { return time.Duration(hash(path)%1000) * time.Microsecond }

var agents = map[string]agentSpec{
	"budget binds":  {steps: 8, parallel: 4, maxTurns: 4, budget: 1100, worst: 100},
	"guard fires":   {steps: 8, parallel: 4, maxTurns: 4, budget: 1 << 30, worst: 100, guardToolCalls: 7},
	"one at a time": {steps: 5, parallel: 1, maxTurns: 4, budget: 700, worst: 100},
}

func (sp agentSpec) run(w world, j journal.Journal, o kernel.Options) (outcome, kernel.Stats, error) {
	var out outcome
	o.RunID, o.Journal = "r", j
	stats, err := kernel.Run(context.Background(), o, sp.program(w, &out))
	return out, stats, err
}

// file is the bytes that a file journal would hold.
func file(t testing.TB, recs []journal.Record) []byte {
	t.Helper()
	var b []byte
	var c journal.Chain
	var err error
	for _, r := range recs {
		if b, c, err = journal.AppendLine(b, &r, c); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// eff is an effect that takes a while and gives its key.
func eff(s *kernel.Scope, name string, d time.Duration) (string, error) {
	return kernel.Do(s, kernel.Effect[string]{Name: name, Class: journal.Read, Perform: func(ctx context.Context, key string) (string, error) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return key, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}})
}

func name(i int) string { return fmt.Sprintf("b.%d", i) }

// run runs main on j to its end.
func run(j journal.Journal, main func(*kernel.Scope) error) (kernel.Stats, error) {
	return runWith(context.Background(), kernel.Options{RunID: "r", Journal: j}, main)
}

func runWith(ctx context.Context, o kernel.Options, main func(*kernel.Scope) error) (kernel.Stats, error) {
	return kernel.Run(ctx, o, func(s *kernel.Scope, _ []byte) error { return main(s) })
}
