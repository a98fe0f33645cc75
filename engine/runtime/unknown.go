package runtime

import (
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/tool"
)

// unknown is the failure of a call whose outcome is unknown: f is what the tool
// said, key what the call was made with. A call that is no write fails as it
// would otherwise; its failure notes the key.
func (t *BoundTool) unknown(f *journal.Failure, took tries, key string) error {
	if t.effect() == tool.ReadEffect {
		return failedAfter(took, f)
	}
	took.Key = key
	if t.effect() != tool.WriteEffect {
		return failedAfter(took, f)
	}
	why := *failedWith(took, f)
	if t.Spec == nil || t.Spec.OnUnknown != tool.ContinueUnknown {
		return &kernel.UnknownOutcome{Why: &why}
	}
	why.Code = tool.CodeUnknownOutcome
	why.Message = fmt.Sprintf("The outcome of this call is unknown; it may have taken effect: %s\n"+
		"Do not repeat the call. Find out by other means whether it took effect, or report that this is uncertain.", f.Message)
	return &why
}

// uncertain are the idempotency keys of calls that may have taken effect, by
// what was called. A repeated call gets the key of the first, so that a server
// that knows it does not act twice. It belongs to the outermost run.
type uncertain map[string]string

// identity names a call for uncertain: the program, the tool and the arguments,
// however they are written.
func (c *toolRun) identity() string {
	return c.s.r.program.Digest + "\x00" + c.rec.Tool + "\x00" + string(jsonvalue.Encode(jsonvalue.Decode(c.rec.Args)))
}

// repeats is the idempotency key of an earlier call like this one that may have
// taken effect, or "".
func (c *toolRun) repeats() string {
	known := c.s.r.root().uncertain
	if len(known) == 0 {
		return ""
	}
	return known[c.identity()]
}

// settled books what is known of the effect once the call has ended: f is its
// failure, nil where it succeeded.
func (c *toolRun) settled(f *journal.Failure) {
	root := c.s.r.root()
	switch {
	case f == nil && c.repeated != "":
		delete(root.uncertain, c.identity())
	case f != nil && c.repeated == "":
		if used := triesOf(f).Key; used != "" {
			if root.uncertain == nil {
				root.uncertain = uncertain{}
			}
			if id := c.identity(); root.uncertain[id] == "" {
				root.uncertain[id] = used
			}
		}
	}
	if f != nil && f.Code == tool.CodeUnknownOutcome {
		c.rec.Status = tool.CallUnknown
		c.s.Record(engine.WarningAdded{Text: fmt.Sprintf("the outcome of a call of %s is unknown, and it may have taken effect (on_unknown: continue)", c.rec.Tool)})
	}
}
