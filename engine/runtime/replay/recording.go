package replay

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/secret"
)

// Layers of effects that a recording may answer, in addition to the kernel's LayerPerson
// and LayerTimer.
const (
	LayerLLM    = "llm"
	LayerTool   = "tool"
	LayerMemory = "memory"
)

// Recording answers effects of a run from the records of another: by path, if the request
// matches, in the recorded order of results.
type Recording struct {
	o        Options
	run      string                  // id of the recorded run
	records  []journal.Record        // not voided
	requests []drift.RecordedRequest // decoded model requests; see Mismatch
	entries  map[string]*entry
	order    []*entry // in request order
	unused   int      // entries with an answer that were not requested
	drifts   []Drifted
}

// Options configure a Recording.
type Options struct {
	Until  uint64   // a fork continues live at the record with this sequence number; 0 = use all
	Layers []string // none = all
	Live   bool     // perform effects without an answer; otherwise they end the run
	// Secrets are redacted from requests before they are compared with a recording
	// without secrets; may be nil.
	Secrets *secret.Values
	// Tolerate lists the classes of differences that are accepted; Drifts returns the
	// effects concerned.
	Tolerate []drift.Class
	// Passthrough is called for each effect when it is issued, on the run's own goroutine. If
	// it returns true the effect is performed, and counts as used in Unused. May be nil.
	Passthrough func(kernel.EffectQuery) bool
	// Rehearse, if not nil, performs nothing. It is called for each effect, with why it has no
	// recorded answer: how its request differs, or nil if it does not or none was recorded.
	// Its outcome is zero if it would be performed.
	Rehearse func(kernel.EffectQuery, kernel.RecordedOutcome, *Mismatch)
}

// New indexes the records of a run.
func New(recs []journal.Record, o Options) *Recording {
	recs = journal.WithoutVoided(recs)
	r := &Recording{o: o, records: recs, entries: map[string]*entry{}}
	for i := range recs {
		rec := &recs[i]
		switch rec.Kind {
		case journal.Intent:
			e := &entry{intent: rec, layer: layerOf(rec)}
			r.entries[rec.Path] = e
			r.order = append(r.order, e)
		case journal.Result:
			if e := r.entries[rec.Path]; e != nil {
				e.setResult(rec, o.Until != 0)
			}
		case journal.Start:
			r.run = rec.Path
		case journal.UnknownOutcome:
			if e := r.entries[rec.Path]; e != nil {
				e.failure = rec.Body
			}
		case journal.Redo, journal.Cancel, journal.Marker, journal.End, journal.Change, journal.Answer:
		case journal.Said:
			r.interrupt(rec)
		}
	}
	for _, e := range r.order {
		if r.hasAnswer(e) {
			r.unused++
		}
	}
	return r
}

// Find implements kernel.Recorded. The error is a *Mismatch.
func (r *Recording) Find(a kernel.EffectQuery) (kernel.RecordedOutcome, error) {
	out, err := r.find(a)
	if r.o.Rehearse == nil || err != nil {
		return out, err
	}
	var differs *Mismatch
	if e := r.entries[a.Path]; e != nil && out.Result == nil && e.layer == a.Layer && !r.sameRequest(a, e) {
		differs = r.difference(a, e)
	}
	if !out.Interrupted {
		r.o.Rehearse(a, out, differs)
	}
	if out.Result == nil && a.Layer != kernel.LayerPerson { // the kernel asks no one
		out = kernel.RecordedOutcome{Withheld: true, Interrupted: out.Interrupted, Otherwise: kernel.ErrWithheld}
	}
	return out, nil
}

// find returns the recorded outcome of an effect.
func (r *Recording) find(a kernel.EffectQuery) (kernel.RecordedOutcome, error) {
	if r.o.Passthrough != nil && r.o.Passthrough(a) {
		if e := r.entries[a.Path]; e != nil {
			r.markUsed(e)
		}
		return kernel.RecordedOutcome{}, nil
	}
	if !r.covers(a.Layer) || r.o.Until != 0 && writesMemory(a.Layer, a.Class) {
		return kernel.RecordedOutcome{}, nil
	}
	e := r.entries[a.Path]
	if e == nil {
		return r.miss(a, nil)
	}
	r.markUsed(e)
	switch {
	case r.o.Until != 0 && e.intent.Seq >= r.o.Until, e.notStarted:
		return kernel.RecordedOutcome{}, nil
	case e.intent.Class != a.Class || !r.sameRequest(a, e) && !r.tolerate(a, e):
		return r.miss(a, e)
	case r.hasAnswer(e):
		return kernel.RecordedOutcome{Result: e.result}, nil
	case a.Class == journal.Write:
		return kernel.RecordedOutcome{UnknownOutcome: true, Key: recordedKey(r.run, e.intent), Why: e.failure}, nil
	case e.interrupted:
		var otherwise error
		if r.o.Until == 0 {
			_, otherwise = r.miss(a, nil)
		}
		return kernel.RecordedOutcome{Interrupted: true, Otherwise: otherwise}, nil
	case r.o.Until == 0 && (a.Layer == LayerLLM || a.Layer == LayerTool):
		return r.miss(a, nil)
	}
	return kernel.RecordedOutcome{}, nil
}

// AsksAgain reports whether the recorded answer to the question at a path permits a call, or
// a part of the run, that is not answered from the recording.
func (r *Recording) AsksAgain(path string) bool {
	if r.o.Until == 0 && !r.o.Live {
		return false
	}
	for _, suffix := range []string{".approval", ".ask"} {
		if i := strings.LastIndex(path, suffix); i >= 0 {
			return !r.hasCall(path[:i])
		}
	}
	return true
}

// hasCall reports whether the recording answers a call to its end. A call that asked a question,
// or needed tokens, continues in another effect.
func (r *Recording) hasCall(path string) bool {
	name := path
	for n := 1; ; n++ {
		e := r.entries[name]
		if e == nil || !r.hasAnswer(e) {
			return false
		}
		var part struct{ Asked, Wants json.RawMessage }
		if e.result.Status != journal.OK || json.Unmarshal(e.result.Body, &part) != nil || part.Asked == nil && part.Wants == nil {
			return true
		}
		name = path + ".again." + strconv.Itoa(n)
	}
}

// Resume marks what earlier sessions of the run have requested.
func (r *Recording) Resume(own []journal.Record) {
	for _, rec := range journal.WithoutVoided(own) {
		if e := r.entries[rec.Path]; e != nil && rec.Kind == journal.Intent {
			r.markUsed(e)
		}
	}
}

func (r *Recording) markUsed(e *entry) {
	if !e.used && r.hasAnswer(e) {
		r.unused--
	}
	e.used = true
}

// miss handles an effect without an answer. Questions and timers are live; a fork
// continues live once nothing recorded is left.
func (r *Recording) miss(a kernel.EffectQuery, e *entry) (kernel.RecordedOutcome, error) {
	beyond := r.o.Until != 0 && e == nil && r.unused == 0
	if r.o.Live || beyond || a.Layer == kernel.LayerPerson || a.Layer == kernel.LayerTimer {
		return kernel.RecordedOutcome{}, nil
	}
	return kernel.RecordedOutcome{}, r.difference(a, e)
}

// Unused returns the paths of answers that were not requested, in recorded order.
func (r *Recording) Unused() []string {
	var out []string
	for _, e := range r.order {
		if !e.used && r.hasAnswer(e) && (e.layer == LayerLLM || e.layer == LayerTool) {
			out = append(out, e.intent.Path)
		}
	}
	return out
}

// recordedKey returns the idempotency key of a recorded write; run is the id of its run.
func recordedKey(run string, intent *journal.Record) string {
	var q struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(intent.Body, &q) == nil && q.Key != "" {
		return q.Key
	}
	return run + "/" + intent.Path
}
