package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// outside is the world outside of a run. A power loss does not change it: what was
// performed there, and what the run has acknowledged.
type outside struct {
	t       *testing.T
	nonce   bool // replies differ each time, as those of models do
	changed func()

	mu        sync.Mutex // guards the fields below
	rng       *rand.Rand
	performed map[string]string // results of the effects that are performed once, by key
	tries     map[string]int
	calls     int
	at        map[int]func() // called at the n-th call
	acked     []ack
}

// ack is what the run has acknowledged: a record of this kind at this path.
type ack struct {
	kind journal.Kind
	path string
}

func newOutside(t *testing.T, seed uint64, nonce bool) *outside {
	return &outside{
		t: t, nonce: nonce, rng: rand.New(rand.NewPCG(seed, 1)), performed: map[string]string{}, tries: map[string]int{}, at: map[int]func(){},
	}
}

// clone returns the same world without observers. The caller holds mu.
func (w *outside) clone() *outside {
	c := newOutside(w.t, uint64(len(w.acked)), w.nonce)
	c.performed, c.tries, c.calls, c.acked = maps.Clone(w.performed), maps.Clone(w.tries), w.calls, append(c.acked, w.acked...)
	return c
}

// change changes the world and then notifies the observer.
func (w *outside) change(f func()) {
	w.mu.Lock()
	f()
	w.mu.Unlock()
	if w.changed != nil {
		w.changed()
	}
}

func (w *outside) acknowledge(kind journal.Kind, path string) {
	w.change(func() { w.acked = append(w.acked, ack{kind, path}) })
}

// pause takes some time.
func (w *outside) pause() {
	w.mu.Lock()
	d := time.Duration(w.rng.IntN(20)) * time.Millisecond
	w.mu.Unlock()
	time.Sleep(d)
}

// begin counts a call and lets some time pass.
func (w *outside) begin(ctx context.Context, key string) (try int, err error) {
	w.mu.Lock()
	w.calls++
	w.tries[key]++
	try = w.tries[key]
	called, pause := w.at[w.calls], time.Duration(w.rng.IntN(30))*time.Millisecond
	w.mu.Unlock()
	if called != nil {
		called()
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return try, nil
	case <-ctx.Done():
		return try, ctx.Err()
	}
}

var errRefused = errors.New("the tool says no")

// read is a model call or another effect that may be repeated.
func (w *outside) read(ctx context.Context, key string) (reply string, err error) {
	if _, err := w.begin(ctx, key); err != nil {
		return "", err
	}
	reply = fmt.Sprintf("r%x", hash(key)>>44)
	w.change(func() {
		if w.nonce {
			reply += fmt.Sprint("-", w.calls)
		}
	})
	if strings.Contains(key, "/retry.") && hash(key)%2 == 0 && !strings.HasSuffix(key, ".2") {
		return "", errRefused
	}
	return reply, nil
}

// once performs an effect that must not be performed twice.
func (w *outside) once(ctx context.Context, key string) (reply string) {
	reply = fmt.Sprintf("w%x", hash(key)>>44)
	w.change(func() {
		if _, twice := w.performed[key]; twice {
			w.t.Errorf("%s was performed twice", key)
		}
		if ctx.Err() == nil { // else its session has ended meanwhile
			w.performed[key] = reply
		}
	})
	return reply
}

func (w *outside) budgeted(ctx context.Context, key string) (string, error) {
	if _, err := w.begin(ctx, key); err != nil {
		return "", err
	}
	return w.once(ctx, key), nil
}

// write is a write. The first try of some has an unknown outcome, or asks a human.
func (w *outside) write(ctx context.Context, key string) (string, error) {
	try, err := w.begin(ctx, key)
	if err != nil {
		return "", err
	}
	unknown := &kernel.UnknownOutcome{Why: &journal.Failure{Code: "unknown", Message: "the connection was closed"}}
	switch kind := hash(key) % 8; {
	case kind == 0:
		return "", errRefused
	case kind == 1 && try == 1:
		w.once(ctx, key)
		return "", unknown
	case kind == 2 && try == 1:
		return "", unknown
	case kind == 3:
		if err := kernel.RecordAnswer(ctx, kernel.Given{Body: []byte(`"yes"`)}); err != nil {
			return "", err
		}
		w.acknowledge(journal.Answer, strings.TrimPrefix(key, "r/"))
	}
	return w.once(ctx, key), nil
}

// decision decides about a write whose outcome is unknown.
func (w *outside) decision(path string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if result, done := w.performed["r/"+path]; done {
		return `done:"` + result + `"`
	}
	return "redo"
}

// lossy is a small agent whose steps depend on all earlier results.
type lossy struct {
	w     *outside
	steps int
}

func (a lossy) program(state *string) func(*kernel.Scope, []byte) error {
	return func(s *kernel.Scope, start []byte) error {
		*state = string(start)
		for i := range a.steps {
			if err := a.step(s.Child(fmt.Sprint("s.", i)), state, true); err != nil {
				return err
			}
		}
		return nil
	}
}

// step performs one effect or several, and adds their results to the state.
func (a lossy) step(s *kernel.Scope, state *string, parallel bool) (err error) {
	var got string
	switch kind := hash(*state+s.Path()) % 10; {
	case kind < 3:
		got, err = a.do(s, "read", *state, journal.Read, a.w.read)
	case kind == 3:
		got, err = a.do(s, "idempotent", *state, journal.Idempotent, a.w.read)
	case kind == 4:
		for n := range 3 {
			if got, err = a.do(s, fmt.Sprint("retry.", n), *state, journal.Read, a.w.read); err == nil || cut(err) {
				break
			}
		}
	case kind == 5:
		_, err = a.do(s, "once", *state, journal.Read, a.w.budgeted)
		got = "once" // a resumed run has no reply
	case kind == 6:
		got, err = kernel.Ask[string](s, kernel.Question{Name: "ask", Request: func() []byte { return []byte(`{"ask":"which?"}`) }})
		a.acknowledge(s, "ask", err)
	case kind == 7 && parallel:
		got, err = a.branches(s, *state)
	default:
		got, err = a.do(s, "write", *state, journal.Write, a.w.write)
	}
	if cut(err) {
		return err
	}
	*state = fmt.Sprintf("%x", hash(*state+got))
	return nil
}

// cut reports whether an error ends the run rather than a step.
func cut(err error) bool { return errors.Is(err, kernel.ErrCancelled) }

func (a lossy) branches(s *kernel.Scope, state string) (string, error) {
	states := []string{state + "a", state + "b", state + "c"}
	err := s.Parallel(len(states), name, func(i int, s *kernel.Scope) error {
		for n := range 2 {
			if err := a.step(s.Child(fmt.Sprint("p.", n)), &states[i], false); err != nil {
				return err
			}
		}
		return nil
	})
	return strings.Join(states, " "), err
}

func (a lossy) do(s *kernel.Scope, name, state string, class journal.Class, perform func(context.Context, string) (string, error)) (string, error) {
	v, err := kernel.Do(s, kernel.Effect[string]{
		Name: name, Class: class, Digest: digest(name, state), AtMostOnce: name == "once", Perform: perform,
		Request: func() []byte { b, _ := json.Marshal(state); return b },
	})
	if name == "write" {
		a.acknowledge(s, name, err)
	}
	if err != nil {
		return "failed", err
	}
	return v, nil
}

// acknowledge emits an event about a result that a power loss must not take.
func (a lossy) acknowledge(s *kernel.Scope, name string, err error) {
	if !cut(err) {
		s.Emit(func() { a.w.acknowledge(journal.Result, path.Join(s.Path(), name)) })
	}
}

// mustSurvive reports whether a power loss must not take a record that was acknowledged
// (ADR 0032), by what the agent does at its path.
func mustSurvive(r *journal.Record) bool {
	switch r.Kind {
	case journal.UnknownOutcome, journal.Answer, journal.Cancel, journal.Change, journal.Marker, journal.End, journal.Said:
		return true
	case journal.Intent:
		return strings.Contains("write ask once", path.Base(r.Path))
	case journal.Result:
		return strings.Contains("write ask", path.Base(r.Path)) || len(r.By) > 0
	case journal.Redo:
		return strings.Contains("write", path.Base(r.Path)) || len(r.By) > 0
	case journal.Start:
	}
	return false
}
