package runs

import (
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// The values of engine.Source.OnDrift: an effect that is not in the recording fails the
// run (the default) or is performed.
const (
	DriftFail = "fail"
	DriftLive = "live"
)

// recording returns the Recording made of the records of the run's source.
func (se *Session) recording(recs []journal.Record) *replay.Recording {
	from := se.Input.From
	o := replay.Options{Until: from.Until, Layers: from.Layers, Live: from.OnDrift == DriftLive}
	if from.File != "" && se.svc.env.Secrets != nil {
		o.Secrets = se.svc.env.Secrets(se.Program, se.Host)
	}
	return replay.New(recs, o)
}

// CallsModels reports whether a run that replays from may call models; nil = no
// recording. A fork is live after the end of its recording.
func CallsModels(from *engine.Source) bool {
	return from == nil || from.Until != 0 || from.OnDrift == DriftLive ||
		len(from.Layers) > 0 && !slices.Contains(from.Layers, replay.LayerLLM)
}

// ParametersFor returns the parameters of another run that p declares.
func ParametersFor(p *engine.Program, given map[string]any) map[string]any {
	taken := map[string]any{}
	for _, q := range p.Parameters {
		if v, ok := given[q.Name]; ok {
			taken[q.Name] = v
		}
	}
	return taken
}
