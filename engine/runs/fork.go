package runs

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

// Fork is a new run that continues from a place in another.
type Fork struct {
	RunID   string // of the new run
	At      string // path, or the beginning of one, of the first effect that is live; "" = the parent's end, or the model call that it failed at
	OnDrift string // DriftLive or "": see engine.Source
	Keep    bool   // add the answer to the conversation of the parent
	// Compile returns the program of the fork and where it comes from. raised are
	// the limits that the parent was given more of.
	Compile func(parent engine.Start, raised []string) (*engine.Program, *engine.Origin, error)
	// Inputs returns the parameters of the fork, of those that the parent was given.
	Inputs func(p *engine.Program, given map[string]any) (map[string]any, error)
}

// Fork creates a run that continues from a place in another. The error is a
// *ForkPointError where the parent has no such place.
func (s *Service) Fork(ctx context.Context, parent string, f Fork) (*Session, error) {
	r, err := s.Read(parent)
	if err != nil {
		return nil, err
	}
	n := NewRun{Input: r.Start.Input}
	n.Input.RunID, n.Input.Detached = f.RunID, !f.Keep
	if n.Input.From, err = forkPoint(r, f.At); err != nil {
		return nil, err
	}
	n.Input.From.OnDrift = f.OnDrift
	if n.Program, n.Input.Origin, err = f.Compile(r.Start, runtime.Raises(r.Records)); err != nil {
		return nil, err
	}
	if f.At == "" {
		if seq := r.limitPassed(ctx, n.Program.Limits); seq != 0 {
			n.Input.From.Until = seq
		}
	}
	if n.Input.Parameters, err = f.Inputs(n.Program, ParametersFor(n.Program, r.Start.Input.Parameters)); err != nil {
		return nil, err
	}
	if n.Host, err = s.env.Connect(n.Program, n.Input); err != nil {
		return nil, err
	}
	if n.Records, err = s.Source(n.Input.From); err != nil {
		return nil, err
	}
	return s.Start(n)
}

// forkPoint is what of the parent stays: all before the effect that at names;
// without it all there is, except for the model call that the parent failed at.
func forkPoint(parent *Run, at string) (*engine.Source, error) {
	recs := journal.WithoutVoided(parent.Records)
	from := &engine.Source{Run: parent.Start.Input.RunID, Until: recs[len(recs)-1].Seq + 1}
	if at == "" {
		if seq := failedCall(recs); seq != 0 {
			from.Until = seq
		}
		return from, nil
	}
	var paths []string
	for _, rec := range recs {
		if rec.Kind != journal.Intent {
			continue
		}
		if leadsTo(at, rec.Path) {
			from.Until = rec.Seq
			return from, nil
		}
		paths = append(paths, rec.Path)
	}
	return nil, &ForkPointError{Run: from.Run, At: at, Paths: paths}
}

// leadsTo says that an effect is the one named, or is below it; a step may be
// named by its id alone.
func leadsTo(at, path string) bool {
	at = strings.TrimSuffix(filepath.ToSlash(at), "/")
	return path == at || strings.HasPrefix(path, at+"/") || strings.HasPrefix(path, "step."+at+"/")
}

// limitPassed is the record at which the run met a limit that these limits raise;
// 0 = there is none.
func (r *Run) limitPassed(ctx context.Context, limits engine.Limits) uint64 {
	res := r.replay(ctx, runtime.Options{})
	if !limits.Wider(runtime.LimitsNow(r.Program, r.Records), res.StopReason.Code) {
		return 0
	}
	return res.Limit
}

// failedCall is the intent of the model call whose failure ended a run, or 0:
// the last one, if it failed. What a run does at its end calls no model.
func failedCall(recs []journal.Record) uint64 {
	var last journal.Record
	failed := false
	for i := range recs {
		switch rec := &recs[i]; {
		case drift.IsRequest(rec):
			last, failed = *rec, false
		case rec.Kind == journal.Result && rec.Path == last.Path:
			failed = rec.Status == journal.Failed
		}
	}
	if !failed {
		return 0
	}
	return last.Seq
}
