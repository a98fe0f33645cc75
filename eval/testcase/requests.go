package testcase

import (
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
)

// requestRecorder collects the requests of a run.
type requestRecorder struct {
	next     runtime.Tracer // nil = none
	requests []*model.Request
}

var _ runtime.Tracer = (*requestRecorder)(nil)

// Trace implements runtime.Tracer.
func (h *requestRecorder) Trace(p *engine.Program, w runtime.TraceEvent) {
	if requested, ok := w.(runtime.Requested); ok {
		h.requests = append(h.requests, requested.Request)
	}
	if h.next != nil {
		h.next.Trace(p, w)
	}
}

// prompts returns the text of each request, in call order.
func (h *requestRecorder) prompts() []string {
	out := make([]string, len(h.requests))
	for i, r := range h.requests {
		var b strings.Builder
		for _, m := range r.Messages {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			for _, s := range m.Text {
				b.WriteString(s)
			}
		}
		out[i] = b.String()
	}
	return out
}
