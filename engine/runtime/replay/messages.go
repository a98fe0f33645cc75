package replay

import (
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

var _ kernel.RecordedMessages = (*Recording)(nil)

// Messages implements kernel.RecordedMessages. A fork receives the messages before its
// point.
func (r *Recording) Messages() (out []kernel.RecordedMessage) {
	at := kernel.RecordedMessage{}
	for i := range r.records {
		rec := &r.records[i]
		if r.o.Until != 0 && rec.Seq >= r.o.Until {
			break
		}
		if rec.Kind == journal.Said {
			at.Record = rec
			out = append(out, at)
			continue
		}
		at.AtStart, at.With = rec.Kind == journal.Start, ""
		switch rec.Kind {
		case journal.Intent:
			at.Request = rec.Path
		case journal.Result:
			at.Outcome, at.With = rec.Path, rec.Path
		default:
		}
	}
	return out
}

// interrupt marks the calls that were under way when a message with an interrupt was
// delivered. A call whose result follows was not interrupted.
func (r *Recording) interrupt(rec *journal.Record) {
	if !kernel.MessageOf(rec).Interrupts() || r.o.Until != 0 && rec.Seq >= r.o.Until {
		return
	}
	for _, e := range r.order {
		e.interrupted = e.interrupted || e.result == nil && e.layer == LayerLLM
	}
}
