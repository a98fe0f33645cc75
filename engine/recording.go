package engine

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/secret"
)

// The layers of effects that a recording may answer; LayerPerson and LayerTimer
// are the kernel's.
const (
	LayerLLM    = "llm"
	LayerTool   = "tool"
	LayerMemory = "memory"
)

// Recording answers effects of a run from the records of another: by path, if
// the request is the same, in the order in which they were answered there.
type Recording struct {
	o        RecordingOptions
	records  []journal.Record // that stand
	requests []drift.Asked    // of models among them; see Miss
	entries  map[string]*recorded
	order    []*recorded // as they were asked for
	unused   int         // entries that count and were not asked for
}

// RecordingOptions say what of a recording counts.
type RecordingOptions struct {
	Until  uint64   // a fork goes on live at the record of this seq; 0 = all counts
	Layers []string // none = all
	Live   bool     // a miss is performed; else it ends the run
	// Secrets are taken out of what is asked for before it is held against a
	// recording that holds none; nil = there are none.
	Secrets *secret.Values
}

// recorded is an effect of a recording.
type recorded struct {
	intent, result *journal.Record // result: nil = none came
	layer          string
	asked          bool
	notBegun       bool // a write that its run never came to
}

// NewRecording indexes the records of a run.
func NewRecording(recs []journal.Record, o RecordingOptions) *Recording {
	recs = journal.Standing(recs)
	r := &Recording{o: o, records: recs, entries: map[string]*recorded{}}
	for i := range recs {
		rec := &recs[i]
		switch rec.Kind {
		case journal.Intent:
			e := &recorded{intent: rec, layer: layerOf(rec)}
			r.entries[rec.Path] = e
			r.order = append(r.order, e)
		case journal.Result:
			if e := r.entries[rec.Path]; e != nil {
				e.ended(rec, o.Until != 0)
			}
		case journal.Start, journal.Redo, journal.Cut, journal.Marker, journal.End, journal.Change:
		}
	}
	for _, e := range r.order {
		if r.counts(e) {
			r.unused++
		}
	}
	return r
}

// ended notes an outcome. A write that was in doubt, or not begun, when its run
// was cancelled is so again for a fork, which goes on.
func (e *recorded) ended(rec *journal.Record, fork bool) {
	var code string
	if fork && rec.Status == journal.Failed && e.intent.Class == journal.Write {
		code = journal.DecodeFailure(rec.Body).Code
	}
	e.notBegun = code == kernel.FailureNotBegun
	if code != kernel.FailureUnknown && !e.notBegun {
		e.result = rec
	}
}

var _ kernel.Recorded = (*Recording)(nil)

// Find answers an effect. An error is a *Miss.
func (r *Recording) Find(a kernel.Asked) (kernel.Found, error) {
	if !r.covers(a.Layer) || r.o.Until != 0 && remembers(a.Layer, a.Class) {
		return kernel.Found{}, nil
	}
	e := r.entries[a.Path]
	if e == nil {
		return r.miss(a, nil)
	}
	r.ask(e)
	switch {
	case r.o.Until != 0 && e.intent.Seq >= r.o.Until, e.notBegun:
		return kernel.Found{}, nil
	case e.intent.Class != a.Class || !r.same(a, e):
		return r.miss(a, e)
	case r.counts(e):
		return kernel.Found{Result: e.result}, nil
	case a.Class == journal.Write:
		return kernel.Found{Doubt: true}, nil
	case r.o.Until == 0 && (a.Layer == LayerLLM || a.Layer == LayerTool):
		return r.miss(a, nil)
	}
	return kernel.Found{}, nil
}

// Resume takes note of what earlier sessions of the run have asked for.
func (r *Recording) Resume(own []journal.Record) {
	for _, rec := range journal.Standing(own) {
		if e := r.entries[rec.Path]; e != nil && rec.Kind == journal.Intent {
			r.ask(e)
		}
	}
}

func (r *Recording) ask(e *recorded) {
	if !e.asked && r.counts(e) {
		r.unused--
	}
	e.asked = true
}

// same says that a request is the recorded one. Ids of memory are derived from
// the run's, a cassette leaves out the digest that it cannot make anew, and how
// much a model may say can be a budget's. A decision of a person is bound to all
// of its question.
func (r *Recording) same(a kernel.Asked, e *recorded) bool {
	if e.intent.Digest == a.Digest || a.Layer == LayerMemory {
		return true
	}
	m := r.difference(a, e)
	switch {
	case m.Model != nil && m.Model.Bounded:
	case r.o.Secrets == nil && e.intent.Digest != [32]byte{}:
		return false
	case a.Layer == kernel.LayerPerson:
		return bytes.Equal(encoded(decoded(m.call())), encoded(decoded(e.intent.Body)))
	}
	return len(m.Differences()) == 0
}

func (r *Recording) difference(a kernel.Asked, e *recorded) *Miss {
	m := &Miss{Path: a.Path, Layer: a.Layer, Class: kernel.DriftExtra, Request: a.Request, recording: r}
	m.Model, _ = a.Detail.(*Request)
	if e != nil {
		m.Class, m.Recorded = kernel.DriftRequest, e.intent.Path
	}
	return m
}

// counts says that the recording has an answer: of a fork, one that came before
// its point. A write that was begun before it happened all the same.
func (r *Recording) counts(e *recorded) bool {
	if e.result == nil || !r.covers(e.layer) || r.o.Until != 0 && remembers(e.layer, e.intent.Class) {
		return false
	}
	return r.o.Until == 0 || e.result.Seq < r.o.Until || e.intent.Class == journal.Write && e.intent.Seq < r.o.Until
}

// remembers says that an effect adds to a conversation: no fork takes that over.
func remembers(layer string, class journal.Class) bool {
	return layer == LayerMemory && class == journal.Idempotent
}

func (r *Recording) covers(layer string) bool {
	return len(r.o.Layers) == 0 || slices.Contains(r.o.Layers, layer)
}

// miss is an effect for which there is no answer. Questions are asked again,
// and time passes again; a fork has left what was recorded behind when none of
// it is left.
func (r *Recording) miss(a kernel.Asked, e *recorded) (kernel.Found, error) {
	beyond := r.o.Until != 0 && e == nil && r.unused == 0
	if r.o.Live || beyond || a.Layer == kernel.LayerPerson || a.Layer == kernel.LayerTimer {
		return kernel.Found{}, nil
	}
	return kernel.Found{}, r.difference(a, e)
}

// Unused is the paths of the answers that no effect asked for, in the order of
// the recording.
func (r *Recording) Unused() []string {
	var out []string
	for _, e := range r.order {
		if !e.asked && r.counts(e) && (e.layer == LayerLLM || e.layer == LayerTool) {
			out = append(out, e.intent.Path)
		}
	}
	return out
}

// layerOf tells what a recorded effect touched.
func layerOf(rec *journal.Record) string {
	switch rec.Class {
	case journal.Question:
		return kernel.LayerPerson
	case journal.Timer:
		return kernel.LayerTimer
	case journal.Read, journal.Idempotent, journal.Write:
	}
	switch {
	case bytes.HasPrefix(rec.Body, []byte(`{"tool":`)):
		return LayerTool
	case len(rec.Body) > 0:
		return LayerLLM
	}
	return LayerMemory
}
