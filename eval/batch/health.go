package batch

import (
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/trial"
)

// maxConsecutiveErrors is how many permanent errors in a row stop the evaluation.
const maxConsecutiveErrors = 3

// health distinguishes an unavailable provider from trials that fail on their own.
type health struct {
	maxFailures    int  // stop after this many failures without any success
	earlierReplies bool // earlier sessions got replies, so a rejected request may be the case's own fault
	replied        bool // a call of this session got a reply
	completed      bool // a run of this session completed
	streak         int  // consecutive runs that ended with a permanent provider error
	failures       int  // runs that ended with a provider error before one completed
}

// record records how a run ended. It returns why further runs would fail too, or "". answered reports that a call
// of the run got a reply.
func (h *health) record(fault *trial.Fault, failure *model.Error, answered bool) string {
	if fault == nil {
		h.completed, h.streak = true, 0
	}
	h.replied = h.replied || answered
	if fault == nil || fault.Kind != trial.ProviderFault {
		return ""
	}
	caseFault := mayBeCaseFault(failure) && (h.earlierReplies || h.replied || h.completed)
	if !h.completed && !caseFault {
		h.failures++
	}
	if is, always := permanent(failure); is && (always || !caseFault) {
		h.streak++
	}
	if h.streak >= maxConsecutiveErrors || h.failures >= h.maxFailures {
		return "the provider does not reply: " + fault.Message
	}
	return ""
}

// graders counts, by check, the consecutive failures because its model was unavailable.
type graders map[string]int

// record records the result of a check. It returns why the check cannot grade further trials, or "".
func (g graders) record(check string, err error) string {
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
	return "the check " + check + " cannot grade: " + err.Error() + "; the finished runs are stored, and --resume only grades them"
}
