package runs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tracecontext"
)

// Fork describes a new run that continues from an effect of another.
type Fork struct {
	RunID   string // of the new run
	At      string // path, or the start of the path, of the first live effect; "" = the parent's end, or the model call that failed it
	OnDrift string // DriftLive or "": see engine.Source
	Keep    bool   // add the answer to the parent's conversation

	// Compile returns the program of the fork and its origin. raised lists the limit
	// changes made when the parent was resumed.
	Compile func(parent engine.Start, raised []string) (*engine.Program, *engine.Origin, error)
	// Inputs returns the parameters of the fork. given holds those of the parent that p
	// declares.
	Inputs func(p *engine.Program, given map[string]any) (map[string]any, error)
}

// Fork creates a run that continues from an effect of parent. The error is a
// *ForkPointError if the parent has no such effect.
func (s *Service) Fork(ctx context.Context, parent string, f Fork) (*Session, error) {
	n, err := s.PrepareFork(ctx, parent, f)
	if err != nil {
		return nil, err
	}
	return s.Start(n)
}

// PrepareFork returns the run that Fork creates. If it is not started, the caller must
// close its Host.
func (s *Service) PrepareFork(ctx context.Context, parent string, f Fork) (n NewRun, err error) {
	r, err := s.Read(parent)
	if err != nil {
		return n, err
	}
	n.Input = r.Start.Input
	caller := tracecontext.From(ctx)
	n.Input.RunID, n.Input.Detached, n.Input.Trace, n.Input.TraceState = f.RunID, !f.Keep, caller.Parent, caller.State
	if n.Input.From, err = forkPoint(r, f.At); err != nil {
		return n, err
	}
	n.Input.From.OnDrift = f.OnDrift
	if n.Program, n.Input.Origin, err = f.Compile(r.Start, runtime.Raises(r.Records)); err != nil {
		return n, err
	}
	if f.At == "" {
		if seq := r.limitSeq(ctx, n.Program.Limits); seq != 0 {
			n.Input.From.Until = seq
		}
	}
	n.Input.By, n.Input.Authors = nil, nil // the one who forks it starts the new run
	if n.Program.RestrictsApprovers() {
		n.Input.Authors = authorsOf(ctx, r)
	}
	if n.Input.Parameters, err = f.Inputs(n.Program, ParametersFor(n.Program, r.Start.Input.Parameters)); err != nil {
		return n, err
	}
	if n.Host, err = s.env.Connect(n.Program, n.Input); err != nil {
		return n, err
	}
	if n.Records, err = s.Source(n.Input.From); err != nil {
		return n, err
	}
	return n, nil
}

// forkPoint returns the part of the parent that a fork reuses: everything before the
// effect at, or if at is empty, everything but the model call that failed the parent.
func forkPoint(parent *Run, at string) (*engine.Source, error) {
	recs := journal.WithoutVoided(parent.Records)
	from := &engine.Source{Run: parent.Start.Input.RunID, Trace: parent.Start.Input.Trace, Until: recs[len(recs)-1].Seq + 1}
	if at == "" {
		if seq := failedCallSeq(recs); seq != 0 {
			from.Until = seq
		}
		return from, nil
	}
	var paths []string
	for _, rec := range recs {
		if rec.Kind != journal.Intent {
			continue
		}
		if matchesPath(at, rec.Path) {
			from.Until = rec.Seq
			return from, nil
		}
		paths = append(paths, rec.Path)
	}
	return nil, &ForkPointError{Run: from.Run, At: at, Paths: paths}
}

// matchesPath reports whether an effect is at the given path or below it. A step may be
// given by its id alone.
func matchesPath(at, path string) bool {
	at = strings.TrimSuffix(filepath.ToSlash(at), "/")
	return path == at || strings.HasPrefix(path, at+"/") || strings.HasPrefix(path, "step."+at+"/")
}

// limitSeq returns the sequence number of the record at which the run reached a limit
// that limits raises, or 0.
func (r *Run) limitSeq(ctx context.Context, limits engine.Limits) uint64 {
	res := r.replay(ctx, runtime.Options{})
	if !limits.Wider(runtime.LimitsNow(r.Program, r.Records), res.StopReason.Code) {
		return 0
	}
	return res.Limit
}

// failedCallSeq returns the sequence number of the intent of the run's last model call if
// that call failed, else 0. The final effects of a run call no model.
func failedCallSeq(recs []journal.Record) uint64 {
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

// authorsOf returns who started or changed a run.
func authorsOf(ctx context.Context, r *Run) []engine.Actor {
	authors := slices.Clone(r.Start.Input.Authors)
	started := engine.Actor{} // unknown
	if by := r.Start.Input.By; by != nil {
		started = *by
	}
	authors = append(authors, started)
	add := func(by *engine.Actor) {
		if by == nil {
			by = &engine.Actor{} // unknown
		}
		authors = append(authors, by.Identity())
	}
	res := r.Show(ctx)
	for i := range res.Decisions {
		if d := &res.Decisions[i]; d.ChangesRun() {
			add(d.By)
		}
	}
	for _, m := range res.Messages {
		add(m.By)
	}
	return authors
}
