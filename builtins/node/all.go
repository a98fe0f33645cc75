package node

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// All returns every node kind.
func All() component.Set[engine.NodeSettings, engine.Node] {
	return component.Set[engine.NodeSettings, engine.Node]{
		Planner, Executor, Reflector, Finalizer,
		Agent, Tool, Transform, Router, Human,
	}
}
