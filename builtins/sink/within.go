package sink

import (
	"github.com/pexctl/pex/engine"
)

// outer is what an event tells of the run itself. Of an agent within it only
// what it consumes, and what a person must know, is shown: its plan and steps
// would stand among the run's own. JSONL has them all.
func outer(ev engine.Event) (engine.Event, bool) {
	if ev.Agent == "" {
		return ev, true
	}
	switch ev.Type {
	case engine.PlanCreated, engine.StepStartedEvent, engine.StepCompleted, engine.ReflectCompleted,
		engine.ModelStarted, engine.ModelDelta, engine.ToolStarted, engine.ToolProgress:
		return ev, false
	default:
		ev.Step = nil
		return ev, true
	}
}
