package runs

import (
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// The values of engine.Source.OnDrift: what a recording lacks ends the run, which
// is also what "" means, or is performed.
const (
	DriftFail = "fail"
	DriftLive = "live"
)

// recording is the records of the run's source as they answer effects.
func (se *Session) recording(recs []journal.Record) *replay.Recording {
	from := se.Input.From
	o := replay.Options{Until: from.Until, Layers: from.Layers, Live: from.OnDrift == DriftLive}
	if from.File != "" && se.svc.env.Secrets != nil {
		o.Secrets = se.svc.env.Secrets(se.Program, se.Host)
	}
	return replay.New(recs, o)
}

// CallsModels says whether a run that a recording answers, nil = none, may call
// models. A fork is live where its recording ends.
func CallsModels(from *engine.Source) bool {
	return from == nil || from.Until != 0 || from.OnDrift == DriftLive ||
		len(from.Layers) > 0 && !slices.Contains(from.Layers, replay.LayerLLM)
}

// ParametersFor returns the parameters, of those that another run was given, that
// a program takes.
func ParametersFor(p *engine.Program, given map[string]any) map[string]any {
	taken := map[string]any{}
	for _, q := range p.Parameters {
		if v, ok := given[q.Name]; ok {
			taken[q.Name] = v
		}
	}
	return taken
}
