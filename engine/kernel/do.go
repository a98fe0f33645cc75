package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/journal"
)

// The layers of effects that are the kernel's own.
const (
	LayerPerson = "person"
	LayerTimer  = "timer"
)

// Effect is one touch of the world.
type Effect[T any] struct {
	Name   string // unique within its scope
	Class  journal.Class
	Layer  string   // what it touches, for Options.Recorded
	Digest [32]byte // of the request: a re-run with another one is drift
	// Request is what is kept with the intent, JSON as journal.Encode writes it;
	// it is called only when the intent is appended. Nil = the digest alone is kept.
	Request func() []byte
	// Detail is passed on to Options.Recorded.
	Detail any
	// Drifted is asked, on a re-run whose request is not the recorded one,
	// whether the recorded outcome holds all the same; nil = it does not.
	Drifted func() bool
	// Reread is told, on a re-run, what the intent holds.
	Reread func(request []byte)
	// Once says that Perform waits until the intent is safe, and that a later
	// session which finds no outcome does not perform it again: it ends with a
	// FailureUnknown, unless it is a write, about which a person decides.
	Once bool
	// Key is the idempotency key that Perform gets; "" = one of run and path.
	Key string
	// Delay is the virtual time that the effect takes; live, Perform is called
	// that much later.
	Delay time.Duration
	// Perform runs on a goroutine of its own, with an idempotency key; ctx ends when nobody waits any more. An error becomes a
	// *journal.Failure. A panic ends the session.
	Perform func(ctx context.Context, key string) (T, error)
}

// call is an effect with the type of its result.
type call[T any] struct {
	effect
	do func(context.Context, string) (T, error)
}

// Do performs an effect, or gives its recorded result. An error is a
// *journal.Failure, the same live and re-run, or the error of a cut.
func Do[T any](s *Scope, e Effect[T]) (T, error) {
	var zero T
	if err := s.cutBy(); err != nil {
		return zero, err
	}
	if err := s.yield(nil, e.Name); err != nil {
		return zero, err
	}
	c := &call[T]{do: e.Perform}
	c.class, c.layer, c.detail, c.delay, c.once, c.work = e.Class, e.Layer, e.Detail, e.Delay, e.Once, c
	c.key = e.Key
	s.issue(&c.effect, e.Name, intent{e.Digest, e.Request, e.Reread, e.Drifted})
	s.b.park()
	if c.cut != nil {
		return zero, c.cut
	}
	return c.take()
}

func (c *call[T]) perform(ctx context.Context, key string) outcome {
	v, err := c.do(ctx, key)
	if u, ok := errors.AsType[*Unavailable](err); ok {
		return outcome{fatal: u}
	}
	if u, ok := errors.AsType[*UnknownOutcome](err); ok && c.class == journal.Write {
		return outcome{doubt: u.Why.Encode()}
	}
	if err != nil {
		return failed(err)
	}
	if c.run.keeps {
		return outcome{value: v}
	}
	body, err := jsonvalue.Marshal(v)
	if err != nil {
		return outcome{fatal: fmt.Errorf("result of %s has no JSON form: %w", c.path, err)}
	}
	return outcome{body: body, encoded: true}
}

// take gives the value: what the journal keeps is decoded, so that node code
// sees the same live and re-run.
func (c *call[T]) take() (T, error) {
	if kept, ok := c.out.value.(T); ok {
		return kept, nil
	}
	return decoded[T](c.path, c.out)
}

func decoded[T any](path string, out outcome) (v T, err error) {
	switch out.status {
	case journal.Failed:
		return v, journal.DecodeFailure(out.body)
	case journal.Skipped:
		if len(out.body) == 0 { // of version 0.1.0
			return v, &journal.Failure{Code: FailureSkipped, Message: skippedMessage}
		}
		return v, journal.DecodeFailure(out.body)
	case journal.OK:
	}
	if len(out.body) == 0 && out.value != nil { // a journal of Go values, read with another type
		if out.body, err = jsonvalue.Marshal(out.value); err != nil {
			return v, fmt.Errorf("result of %s: %w", path, err)
		}
	}
	if len(out.body) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(out.body, &v); err != nil {
		return v, fmt.Errorf("result of %s: %w", path, err)
	}
	return v, nil
}

// Question is what Ask puts to a person; its fields are those of Effect.
type Question struct {
	Name    string
	Digest  [32]byte
	Request func() []byte
	Drifted func() bool
	Reread  func(request []byte)
}

// Ask journals a question and waits for a person's answer, which may come in
// a later session.
func Ask[T any](s *Scope, q Question) (T, error) {
	var zero T
	if err := s.cutBy(); err != nil {
		return zero, err
	}
	if err := s.yield(nil, q.Name); err != nil {
		return zero, err
	}
	c := &call[T]{}
	c.class, c.layer = journal.Question, LayerPerson
	s.issue(&c.effect, q.Name, intent{q.Digest, q.Request, q.Reread, q.Drifted})
	s.b.park()
	if c.cut != nil {
		return zero, c.cut
	}
	return c.take()
}
