package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/journal"
)

// Layers of the kernel's own effects.
const (
	LayerPerson = "person"
	LayerTimer  = "timer"
)

// Effect is an interaction with the outside world.
type Effect[T any] struct {
	Name   string // unique within its scope
	Class  journal.Class
	Layer  string         // for Options.Recorded
	Digest journal.Digest // of the request; a replay with another digest is drift
	// Request returns the body stored with the intent, JSON as written by journal.Encode.
	// It is called only if the intent is appended. Nil = only the digest is stored.
	Request func() []byte
	// Detail is passed to Options.Recorded.
	Detail any
	// AcceptDrift is called in a replay whose request differs from the recorded one, and
	// reports whether to accept the recorded outcome; nil = never.
	AcceptDrift func() bool
	// OnReplay is called in a replay with the body of the recorded intent.
	OnReplay func(request []byte)
	// AtMostOnce makes Perform wait until the intent is durable and run at most once: a later
	// session without an outcome ends the effect with FailureUnknown instead of
	// performing it again. Writes always behave like this, except that a human decides
	// about the outcome.
	AtMostOnce bool
	// Interruptible lets a Message with Interrupt end the effect: Do returns ErrInterrupting,
	// also if the effect was not started yet. Writes cannot be interrupted.
	Interruptible bool
	// Key is the idempotency key passed to Perform; "" = derived from run and path.
	Key string
	// Delay is the virtual duration of the effect; in real time Perform is called after
	// it.
	Delay time.Duration
	// Work is what Perform does as data, for a World whose tasks other processes perform; nil
	// = only the process of the session can perform it.
	Work Work
	// Perform runs on its own goroutine with an idempotency key; ctx ends when the
	// outcome is no longer needed. Its error becomes a *journal.Failure. A panic ends the
	// session.
	Perform func(ctx context.Context, key string) (T, error)
}

// call is an effect with its result type.
type call[T any] struct {
	effect
	do func(context.Context, string) (T, error)
}

// Do performs an effect or returns its recorded result. The error is a *journal.Failure,
// the same in a replay, or the error of a cut.
func Do[T any](s *Scope, e Effect[T]) (T, error) {
	var zero T
	if err := s.cutBy(); err != nil {
		return zero, err
	}
	if err := s.yield(nil, e.Name); err != nil {
		return zero, err
	}
	c := &call[T]{do: e.Perform}
	c.class, c.layer, c.detail, c.delay, c.once, c.work = e.Class, e.Layer, e.Detail, e.Delay, e.AtMostOnce, c
	c.key, c.interruptible, c.data = e.Key, e.Interruptible && e.Class != journal.Write, e.Work
	s.issue(&c.effect, e.Name, intent{e.Digest, e.Request, e.OnReplay, e.AcceptDrift})
	s.b.park()
	if c.cut != nil {
		return zero, c.cut
	}
	return c.take()
}

func (c *call[T]) perform(ctx context.Context, key string) Outcome {
	v, err := c.do(ctx, key)
	if err == nil && c.run.keepsValues {
		return Outcome{value: v}
	}
	return OutcomeOf(c.class, c.path, v, err)
}

// take returns the value. It decodes what the journal stores unless the value is Canonical,
// so that node code sees the same value in a replay.
func (c *call[T]) take() (T, error) {
	if kept, ok := c.out.value.(T); ok {
		return kept, nil
	}
	return decoded[T](c.path, c.out)
}

func decoded[T any](path string, out Outcome) (v T, err error) {
	switch out.Status {
	case journal.Failed:
		return v, journal.DecodeFailure(out.Body)
	case journal.Skipped:
		if len(out.Body) == 0 { // written by version 0.1.0
			return v, &journal.Failure{Code: FailureSkipped, Message: skippedMessage}
		}
		return v, journal.DecodeFailure(out.Body)
	case journal.OK:
	}
	if len(out.Body) == 0 && out.value != nil { // a journal of Go values, read as another type
		if out.Body, err = jsonvalue.Marshal(out.value); err != nil {
			return v, fmt.Errorf("result of %s: %w", path, err)
		}
	}
	if len(out.Body) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(out.Body, &v); err != nil {
		return v, fmt.Errorf("result of %s: %w", path, err)
	}
	return v, nil
}

// Question is a question to a human; its fields are those of Effect.
type Question struct {
	Name        string
	Digest      journal.Digest
	Request     func() []byte
	AcceptDrift func() bool
	OnReplay    func(request []byte)
}

// Ask journals a question and waits for a human's answer, which may come in a later
// session.
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
	s.issue(&c.effect, q.Name, intent{q.Digest, q.Request, q.OnReplay, q.AcceptDrift})
	s.b.park()
	if c.cut != nil {
		return zero, c.cut
	}
	return c.take()
}
