package batch

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/eval/trial"
)

// health tells a provider that is not there from trials that go wrong.
type health struct {
	first  int  // if so many fail before one succeeds, all will
	well   bool // a run came to its end
	streak int  // runs since then that a lasting error of a provider ended
	all    int  // runs that a provider's error ended before one came to its end
}

// hears takes note of how a run ended, and says why no other would do better,
// or "".
func (h *health) hears(fault *trial.Fault, failure *engine.ModelError) string {
	if fault == nil {
		h.well, h.streak = true, 0
	}
	if fault == nil || fault.Kind != trial.ProviderFault {
		return ""
	}
	if !h.well {
		h.all++
	}
	if is, always := permanent(failure); is && (always || !h.well) {
		h.streak++
	}
	if h.streak >= 3 || h.all >= h.first {
		return "the provider gives no answers: " + fault.Message
	}
	return ""
}
