package replay

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/tool"
)

// Drifted is an effect answered by the recording although its request differs.
type Drifted struct {
	Path        string
	Layer       string // LayerLLM or LayerTool
	Differences []drift.Difference
}

// Drifts returns the effects answered despite differences, in request order.
func (r *Recording) Drifts() []Drifted { return r.drifts }

// tolerate reports whether the differences from the recorded request are of tolerated
// classes, and records them. Another role is never tolerated.
func (r *Recording) tolerate(a kernel.EffectQuery, e *entry) bool {
	if len(r.o.Tolerate) == 0 || e.layer != a.Layer || a.Layer != LayerLLM && a.Layer != LayerTool {
		return false
	}
	m := r.difference(a, e)
	if m.Model != nil && !slices.ContainsFunc(m.requests(), func(q drift.RecordedRequest) bool { return q.Path == e.intent.Path }) {
		return false // the recorded request is unreadable
	}
	found := m.Differences()
	for _, d := range found {
		if d.What == "role" || !slices.Contains(r.o.Tolerate, d.Class) {
			return false
		}
	}
	if len(found) > 0 {
		r.drifts = append(r.drifts, Drifted{a.Path, a.Layer, found})
	}
	return true
}

// Answers reports whether the recording has a result for a path.
func (r *Recording) Answers(path string) bool {
	e := r.entries[path]
	return e != nil && e.result != nil
}

// Reply returns the recorded reply of a model at a path. The error is a *model.Error,
// also if there is none.
func (r *Recording) Reply(path string) (*model.Reply, error) {
	return decodeAnswer[model.Reply](r, path, func(f *journal.Failure) error { return modelrecord.DecodeError(f) })
}

// Output returns the recorded output of a tool at a path. The error is that of the
// recorded call, or reports that nothing was recorded.
func (r *Recording) Output(path string) (*tool.Output, error) {
	return decodeAnswer[tool.Output](r, path, func(f *journal.Failure) error { return f })
}

// decodeAnswer decodes a recorded result.
func decodeAnswer[T any](r *Recording, path string, failed func(*journal.Failure) error) (*T, error) {
	if !r.Answers(path) {
		return nil, failed(&journal.Failure{Code: "missing", Message: "the recording has no result for " + path})
	}
	rec := *r.entries[path].result
	if err := rec.EnsureBody(); err != nil {
		return nil, failed(journal.AsFailure(err))
	}
	if rec.Status != journal.OK {
		return nil, failed(journal.DecodeFailure(rec.Body))
	}
	out := new(T)
	if err := json.Unmarshal(rec.Body, out); err != nil {
		return nil, failed(journal.AsFailure(err))
	}
	return out, nil
}
