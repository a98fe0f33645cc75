package replay

import (
	"encoding/json"

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
	o        Options
	run      string           // id of the recorded run
	records  []journal.Record // that stand
	requests []drift.Asked    // of models among them; see Miss
	entries  map[string]*recorded
	order    []*recorded // as they were asked for
	unused   int         // entries that count and were not asked for
	drifts   []Drifted
}

// Options say what of a recording counts.
type Options struct {
	Until  uint64   // a fork goes on live at the record of this seq; 0 = all counts
	Layers []string // none = all
	Live   bool     // a miss is performed; else it ends the run
	// Secrets are taken out of what is asked for before it is compared with a
	// recording that holds none; nil = there are none.
	Secrets *secret.Values
	// Tolerate are the classes in which a request may differ from the recorded
	// one and still be answered by it; Drifts tells of each that does.
	Tolerate []drift.Class
	// Aside is asked about each effect as it is issued, on the run's own
	// goroutine. One that it takes aside is performed: the recording does not
	// answer it, and has answered it as far as Unused goes. Nil = none is.
	Aside func(kernel.EffectQuery) bool
}

// New indexes the records of a run.
func New(recs []journal.Record, o Options) *Recording {
	recs = journal.WithoutVoided(recs)
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
		case journal.Start:
			r.run = rec.Path
		case journal.Doubt:
			if e := r.entries[rec.Path]; e != nil {
				e.why = rec.Body
			}
		case journal.Redo, journal.Cut, journal.Marker, journal.End, journal.Change, journal.Answer:
		}
	}
	for _, e := range r.order {
		if r.counts(e) {
			r.unused++
		}
	}
	return r
}

var _ kernel.Recorded = (*Recording)(nil)

// Find answers an effect. An error is a *Miss.
func (r *Recording) Find(a kernel.EffectQuery) (kernel.RecordedOutcome, error) {
	if r.o.Aside != nil && r.o.Aside(a) {
		if e := r.entries[a.Path]; e != nil {
			r.ask(e)
		}
		return kernel.RecordedOutcome{}, nil
	}
	if !r.covers(a.Layer) || r.o.Until != 0 && remembers(a.Layer, a.Class) {
		return kernel.RecordedOutcome{}, nil
	}
	e := r.entries[a.Path]
	if e == nil {
		return r.miss(a, nil)
	}
	r.ask(e)
	switch {
	case r.o.Until != 0 && e.intent.Seq >= r.o.Until, e.notBegun:
		return kernel.RecordedOutcome{}, nil
	case e.intent.Class != a.Class || !r.same(a, e) && !r.tolerates(a, e):
		return r.miss(a, e)
	case r.counts(e):
		return kernel.RecordedOutcome{Result: e.result}, nil
	case a.Class == journal.Write:
		return kernel.RecordedOutcome{Doubt: true, Key: recordedKey(r.run, e.intent), Why: e.why}, nil
	case r.o.Until == 0 && (a.Layer == LayerLLM || a.Layer == LayerTool):
		return r.miss(a, nil)
	}
	return kernel.RecordedOutcome{}, nil
}

// Resume takes note of what earlier sessions of the run have asked for.
func (r *Recording) Resume(own []journal.Record) {
	for _, rec := range journal.WithoutVoided(own) {
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

// miss is an effect for which there is no answer. Questions are asked again,
// and time passes again; a fork has left what was recorded behind when none of
// it is left.
func (r *Recording) miss(a kernel.EffectQuery, e *recorded) (kernel.RecordedOutcome, error) {
	beyond := r.o.Until != 0 && e == nil && r.unused == 0
	if r.o.Live || beyond || a.Layer == kernel.LayerPerson || a.Layer == kernel.LayerTimer {
		return kernel.RecordedOutcome{}, nil
	}
	return kernel.RecordedOutcome{}, r.difference(a, e)
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

// recordedKey is the idempotency key that a recorded write was performed with;
// run is the id of its run.
func recordedKey(run string, intent *journal.Record) string {
	var q struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(intent.Body, &q) == nil && q.Key != "" {
		return q.Key
	}
	return run + "/" + intent.Path
}
