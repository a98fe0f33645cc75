package analysis

import (
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine/tool"
)

// approvers: rules about who may approve have no effect where no human is asked. A write
// may have an unknown outcome, about which a human decides.
func (w effectChecker) approvers() {
	const because, hint = "approval is never, so no human is asked", "write approval: always or an expression, or remove it"
	for _, t := range w.Tools {
		reads := t.Spec.Effect == tool.ReadEffect || t.Spec.Effect == tool.IdempotentEffect
		if t.Server || t.Asks || t.Spec.Approval.Source != "never" || !reads && t.Spec.OnUnknown != tool.ContinueUnknown {
			continue
		}
		for _, key := range []string{"approvers", "four_eyes"} {
			e, ok := entryOf(w.Spec.Tree().Get("tools", t.Spec.Name), key)
			w.report(e, ok, "tools."+t.Spec.Name+"."+key, because, hint)
		}
	}
	for _, n := range parts(w.Pass) {
		if approval, ok := n.entry("approval"); n.typ == language.Planner && ok && approval.Value.Text() == "never" {
			w.reportNode(n, because, hint, "approvers")
			w.reportNode(n, because, hint, "four_eyes")
		}
	}
}
