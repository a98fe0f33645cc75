package node

import (
	"fmt"

	"github.com/pexctl/pex/engine"
)

// warnUnenforced warns of replies that do not match their schema where the server
// would enforce it by an option that the llm does not set.
func warnUnenforced(s *engine.Scope, role, llm string) {
	m := s.View().Model(llm)
	if m == nil {
		return
	}
	enforcer, ok := m.Config.(engine.SchemaEnforcer)
	if !ok {
		return
	}
	if value := enforcer.EnforcingOutput(); value != "" {
		s.Record(engine.Warned{Text: fmt.Sprintf("llm %s (%s): set %s.options.structured_output: %s, so that the server makes replies match the schema",
			llm, role, m.Path, value)})
	}
}
