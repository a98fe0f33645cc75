package replay

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
)

// entry is an effect of a recording.
type entry struct {
	intent, result *journal.Record // result may be nil
	failure        []byte          // of a write whose outcome is unknown: see kernel.Open
	layer          string
	used           bool
	// interrupted reports that a message ended a call that the run would have repeated with it.
	interrupted bool
	notStarted  bool // a write that the run requested but did not start
}

// setResult sets the outcome. For a fork, which continues, a write in doubt or not
// started when its run was cancelled is so again.
func (e *entry) setResult(rec *journal.Record, fork bool) {
	var code string
	if fork && rec.Status == journal.Failed && e.intent.Class == journal.Write {
		code = journal.DecodeFailure(rec.Body).Code
	}
	e.notStarted = code == kernel.FailureNotBegun
	if code != kernel.FailureUnknown && !e.notStarted {
		e.result = rec
	}
}

// sameRequest reports whether a request matches the recorded one. Memory ids are derived
// from the run's id, a cassette omits digests that it cannot recompute, and a budget may
// set the output limit. A human decision requires an identical question.
func (r *Recording) sameRequest(a kernel.EffectQuery, e *entry) bool {
	if e.intent.Digest == a.Digest || a.Layer == LayerMemory {
		return true
	}
	m := r.difference(a, e)
	switch {
	case m.Model != nil && m.Model.Bounded:
	case r.o.Secrets == nil && e.intent.Digest != journal.Digest{}:
		return false
	case a.Layer == kernel.LayerPerson:
		return bytes.Equal(jsonvalue.Encode(jsonvalue.Decode(m.redactedCall())), jsonvalue.Encode(jsonvalue.Decode(e.intent.Body)))
	}
	return len(m.Differences()) == 0
}

func (r *Recording) difference(a kernel.EffectQuery, e *entry) *Mismatch {
	m := &Mismatch{Path: a.Path, Layer: a.Layer, Class: kernel.DriftExtra, Request: a.Request, recording: r}
	m.Model, _ = a.Detail.(*model.Request)
	if e != nil {
		m.Class, m.Recorded = kernel.DriftRequest, e.intent.Path
	}
	return m
}

// hasAnswer reports whether the recording answers an entry: for a fork, if the result
// came before its point. A write started before it happened anyway.
func (r *Recording) hasAnswer(e *entry) bool {
	if e.result == nil || !r.covers(e.layer) || r.o.Until != 0 && writesMemory(e.layer, e.intent.Class) {
		return false
	}
	return r.o.Until == 0 || e.result.Seq < r.o.Until || e.intent.Class == journal.Write && e.intent.Seq < r.o.Until
}

// writesMemory reports whether an effect adds to a conversation, which forks do not take
// over.
func writesMemory(layer string, class journal.Class) bool {
	return layer == LayerMemory && class == journal.Idempotent
}

func (r *Recording) covers(layer string) bool {
	return len(r.o.Layers) == 0 || slices.Contains(r.o.Layers, layer)
}

// layerOf returns the layer of a recorded effect.
func layerOf(rec *journal.Record) string {
	switch {
	case rec.Class == journal.Question:
		return kernel.LayerPerson
	case rec.Class == journal.Timer:
		return kernel.LayerTimer
	case drift.IsRequest(rec):
		return LayerLLM
	case len(rec.Body) > 0: // a call: {"tool", "args"}
		return LayerTool
	}
	return LayerMemory
}
