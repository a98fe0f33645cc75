package batch

import (
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/trial"
)

// maxConsecutiveErrors is how many permanent errors in a row stop the evaluation.
const maxConsecutiveErrors = 3

// health tells a provider that is not there from trials that go wrong.
type health struct {
	first  int  // if so many fail before one succeeds, all will
	past   bool // earlier sessions got answers: what is refused may be the case's own fault
	some   bool // a call of this session was answered: as past
	well   bool // a run of this session came to its end
	streak int  // runs since then that a lasting error of a provider ended
	all    int  // runs that a provider's error ended before one came to its end
}

// hears takes note of how a run ended, and says why no other would do better,
// or "". answered says that some call of it had a reply.
func (h *health) hears(fault *trial.Fault, failure *model.Error, answered bool) string {
	if fault == nil {
		h.well, h.streak = true, 0
	}
	h.some = h.some || answered
	if fault == nil || fault.Kind != trial.ProviderFault {
		return ""
	}
	its := mayBeCaseFault(failure) && (h.past || h.some || h.well)
	if !h.well && !its {
		h.all++
	}
	if is, always := permanent(failure); is && (always || !its) {
		h.streak++
	}
	if h.streak >= maxConsecutiveErrors || h.all >= h.first {
		return "the provider gives no answers: " + fault.Message
	}
	return ""
}

// graders is the same of those who grade: how often, one after the other, a
// check could not because its model is not there.
type graders map[string]int

// hears takes note of what a check came to, and says why no other trial would be
// graded by it, or "".
func (g graders) hears(check string, err error) string {
	if err == nil {
		delete(g, check)
		return ""
	}
	if _, always := permanent(modelError(err)); !always {
		return ""
	}
	if g[check]++; g[check] < maxConsecutiveErrors {
		return ""
	}
	return "the check " + check + " cannot grade: " + err.Error() + "; what ran is kept, and only graded when it is resumed"
}
