package runtime

import (
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/tool"
)

// unknownOutcome returns the failure of a call that may have taken effect: f is the
// tool's failure, key the call's idempotency key. Calls other than writes fail as usual,
// and idempotent ones note the key.
func (t *BoundTool) unknownOutcome(f *journal.Failure, took attemptStats, key string) error {
	if t.effect() == tool.ReadEffect {
		return withStats(took, f)
	}
	took.Key = key
	if t.effect() != tool.WriteEffect {
		return withStats(took, f)
	}
	why := *failureWithStats(took, f)
	if t.Spec == nil || t.Spec.OnUnknown != tool.ContinueUnknown {
		return &kernel.UnknownOutcome{Why: &why}
	}
	why.Code = tool.CodeUnknownOutcome
	why.Message = fmt.Sprintf("The outcome of this call is unknown; it may have taken effect: %s\n"+
		"Do not repeat the call. Check in another way whether it took effect, or report that this is uncertain.", f.Message)
	return &why
}

// uncertainKeys maps calls that may have taken effect to their idempotency keys. A
// repeated call reuses the key, so that a server that knows it does not act twice. It
// belongs to the outermost run.
type uncertainKeys map[string]string

// identity returns the key of a call in uncertainKeys: program, tool and normalized
// arguments.
func (c *toolRun) identity() string {
	return c.s.r.program.Digest + "\x00" + c.rec.Tool + "\x00" + string(jsonvalue.Encode(jsonvalue.Decode(c.rec.Args)))
}

// earlierKey returns the idempotency key of an identical earlier call that may have taken
// effect, or "".
func (c *toolRun) earlierKey() string {
	known := c.s.r.root().uncertainKeys
	if len(known) == 0 {
		return ""
	}
	return known[c.identity()]
}

// settleEffect updates uncertainKeys after a call; f is its failure, or nil.
func (c *toolRun) settleEffect(f *journal.Failure) {
	root := c.s.r.root()
	switch {
	case f == nil && c.reusedKey != "":
		delete(root.uncertainKeys, c.identity())
	case f != nil && c.reusedKey == "":
		if used := statsOf(f).Key; used != "" {
			if root.uncertainKeys == nil {
				root.uncertainKeys = uncertainKeys{}
			}
			if id := c.identity(); root.uncertainKeys[id] == "" {
				root.uncertainKeys[id] = used
			}
		}
	}
	if f != nil && f.Code == tool.CodeUnknownOutcome {
		c.rec.Status = tool.CallUnknown
		c.s.Record(engine.WarningAdded{Text: fmt.Sprintf("the outcome of a call of %s is unknown, and it may have taken effect (on_unknown: continue)", c.rec.Tool)})
	}
}
