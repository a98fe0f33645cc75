package temporal

import (
	"encoding/json"
	"maps"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine/interrupt"
)

// batch is the decisions of one request, which one session gets.
type batch struct {
	decisions

	accepted map[string]bool   // in the journal, by path
	refused  map[string]string // why not, by path
}

func newBatch(d decisions) *batch {
	return &batch{d, map[string]bool{}, map[string]string{}}
}

// paths returns what the decisions are about, sorted.
func (d *decisions) paths() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for path := range maps.Keys(d.Answers) {
			if !yield(path) {
				return
			}
		}
		for path := range maps.Keys(d.Resolve) {
			if !yield(path) {
				return
			}
		}
	})
}

// accept marks a decision that is in the journal.
func (b *batch) accept(path string) { b.accepted[path] = true }

// end finds out which decisions the session did not take.
func (b *batch) end(waiting []interrupt.Question) {
	for _, path := range b.paths() {
		switch {
		case b.accepted[path]:
		case asks(waiting, path):
			b.refused[path] = "the answer is not permitted"
		default:
			b.refused[path] = "the run does not ask this"
		}
	}
}

// settled reports whether each decision was accepted or refused.
func (b *batch) settled() bool {
	return !slices.ContainsFunc(b.paths(), func(path string) bool { return !b.accepted[path] && b.refused[path] == "" })
}

func asks(questions []interrupt.Question, path string) bool {
	return slices.ContainsFunc(questions, func(q interrupt.Question) bool { return q.Path == path })
}

// check refuses decisions that no session can take. While a session executes, it may still come to
// the question.
func (x *execution) check(d decisions) error {
	paths := d.paths()
	if len(paths) == 0 {
		return refusal("there is no answer in the request")
	}
	for _, path := range paths {
		switch {
		case d.Answers[path] != nil && !json.Valid(d.Answers[path]):
			return refusal("%s: the answer is not JSON", path)
		case x.answered(path):
			return refusal("%s: it was answered already", path)
		case x.current == nil && !asks(x.waiting, path):
			return refusal("%s: the run does not ask this", path)
		}
	}
	for _, q := range x.waiting {
		if x.current == nil && len(d.Resolve) > 0 && q.Kind == interrupt.Review && d.Resolve[q.Path] == "" {
			return refusal("%s: decide about this write, too: a run continues once there is a decision about each", q.Path)
		}
	}
	return nil
}

// answered reports whether a session has, or will get, another decision about a path.
func (x *execution) answered(path string) bool {
	has := func(b *batch) bool { return b.Answers[path] != nil || b.Resolve[path] != "" }
	return x.current != nil && has(x.current) || slices.ContainsFunc(x.batches, has)
}

// decide handles decisions. It returns once they are in the journal, or why one is not.
func (x *execution) decide(ctx workflow.Context, d decisions) error {
	if x.cancelled != nil || x.ended {
		return refusal("the run has ended")
	}
	if err := x.check(d); err != nil {
		return err // another request came first
	}
	b := newBatch(d)
	x.batches = append(x.batches, b)
	_ = workflow.Await(ctx, func() bool { return x.ended || b.settled() })
	for _, path := range b.paths() {
		switch {
		case b.accepted[path]:
		case b.refused[path] != "":
			return refusal("%s: %s", path, b.refused[path])
		default:
			return refusal("%s: the run ended before the answer", path)
		}
	}
	return nil
}
