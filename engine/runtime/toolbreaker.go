package runtime

import (
	"cmp"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/tool"
)

// After so many failures in a row of a tool's service, which tell of the service
// and not of the call, a run leaves it alone for a while: the numbers of the
// breaker before models (internal/wire).
const (
	troubled = 5
	respite  = 30 * time.Second // of active time
)

// trouble is how a tool's service fares.
type trouble struct {
	failures int // in a row
	last     string
	until    time.Duration // active time; no call is made before
	tried    bool          // a call that tries it again is under way
}

// service is what tools of one server share.
func (t *BoundTool) service() string {
	if t.server != "" || t.Spec == nil {
		return t.server
	}
	return t.Spec.Name
}

// noteTrouble counts an outcome: failed is nil where the call succeeded.
func (r *run) noteTrouble(t *BoundTool, failed *journal.Failure, now time.Duration) {
	name := t.service()
	if failed == nil || failed.Code != failedTimeout && failed.Code != failedUnavailable && failed.Code != tool.CodeUnknownOutcome {
		delete(r.troubles, name)
		return
	}
	if r.troubles == nil {
		r.troubles = map[string]*trouble{}
	}
	x := r.troubles[name]
	if x == nil {
		x = &trouble{}
		r.troubles[name] = x
	}
	x.failures++
	x.last = failed.Message
	if x.failures >= troubled {
		x.until = now + respite
	}
}

// inTrouble says why a tool is not called now, or "". Once its respite is over
// one call tries it again, and the others wait for what comes of that.
func (r *run) inTrouble(t *BoundTool, now time.Duration) string {
	x := r.troubles[t.service()]
	if x == nil || x.failures < troubled || now >= x.until && !x.tried {
		return ""
	}
	left := "until a call that tries it again has ended"
	if now < x.until {
		left = "for " + (x.until - now).Round(time.Second).String()
	}
	return fmt.Sprintf("%s was not called: it failed %d times in a row and is left alone %s; do without it. Its last failure: %s",
		cmp.Or(t.service(), "the tool"), x.failures, left, tool.Excerpt(x.last, 200))
}

// tries notes that a call of the tool begins. Where it tries a service again
// that was left alone, others wait for it until it is over.
func (r *run) tries(t *BoundTool) (over func()) {
	x := r.troubles[t.service()]
	if x == nil || x.failures < troubled {
		return func() {}
	}
	x.tried = true
	return func() { x.tried = false }
}
