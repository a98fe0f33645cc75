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

// recorded is an effect of a recording.
type recorded struct {
	intent, result *journal.Record // result: nil = none came
	why            []byte          // of a write whose outcome is unknown: see kernel.Open
	layer          string
	asked          bool
	notBegun       bool // a write that its run never came to
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

// same says that a request is the recorded one. Ids of memory are derived from
// the run's, a cassette leaves out the digest that it cannot make anew, and how
// much a model may say can be a budget's. A decision of a person is bound to all
// of its question.
func (r *Recording) same(a kernel.EffectQuery, e *recorded) bool {
	if e.intent.Digest == a.Digest || a.Layer == LayerMemory {
		return true
	}
	m := r.difference(a, e)
	switch {
	case m.Model != nil && m.Model.Bounded:
	case r.o.Secrets == nil && e.intent.Digest != [32]byte{}:
		return false
	case a.Layer == kernel.LayerPerson:
		return bytes.Equal(jsonvalue.Encode(jsonvalue.Decode(m.call())), jsonvalue.Encode(jsonvalue.Decode(e.intent.Body)))
	}
	return len(m.Differences()) == 0
}

func (r *Recording) difference(a kernel.EffectQuery, e *recorded) *Mismatch {
	m := &Mismatch{Path: a.Path, Layer: a.Layer, Class: kernel.DriftExtra, Request: a.Request, recording: r}
	m.Model, _ = a.Detail.(*model.Request)
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

// layerOf tells what a recorded effect touched.
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
