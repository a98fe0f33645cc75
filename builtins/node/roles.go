package node

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// roleOf is the node of a role: the graph's first of that type, else the one
// that the program keeps for others to ask, else nil.
func roleOf(v engine.View, typ string) engine.Node {
	if id, ok := v.Program.NodeOf(typ); ok {
		return v.Program.Nodes[id]
	}
	return v.Program.Nodes[typ]
}

// several says that a graph has more than one node of a type.
func several(p *engine.Program, typ string) bool {
	n := 0
	for i := range p.Graph.Nodes {
		if p.Graph.Nodes[i].Type == typ {
			n++
		}
	}
	return n > 1
}

// plannerOf is the Config of the planner whose plan there is: its format,
// repairs and approval are those of everybody who works on the plan. Before
// there is one, it is that of the planner which the graph has before a node.
func plannerOf(v engine.View, of string) *PlannerConfig {
	if p, ok := v.Program.Nodes[v.State.Planner].(*planner); ok {
		return p.cfg
	}
	return plannersOf(v.Program, of)[0]
}

// plannersOf are the planners whose plans a node may work on, the nearest
// first; at least one.
func plannersOf(p *engine.Program, of string) (out []*PlannerConfig) {
	if several(p, "planner") {
		for _, id := range p.Graph.Before(of, "planner") {
			if n, ok := p.Nodes[id].(*planner); ok {
				out = append(out, n.cfg)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	if n, ok := roleOf(engine.View{Program: p}, "planner").(*planner); ok {
		return []*PlannerConfig{n.cfg}
	}
	return []*PlannerConfig{Planner.Config().(*PlannerConfig)}
}

// stepTools is the tools that steps of a plan can use which a node makes: those
// of the executors that come after it, in spec order.
func stepTools(v engine.View, of string) []tool.Info {
	if several(v.Program, "executor") {
		if ahead := v.Program.Graph.Ahead(of, "executor"); len(ahead) > 0 {
			return anyOf(v, ahead)
		}
	}
	if x, ok := roleOf(v, "executor").(*executor); ok {
		return x.visible(v)
	}
	return v.Tools
}

// anyOf is the tools that one of some executors can use.
func anyOf(v engine.View, executors []string) (out []tool.Info) {
	for _, t := range v.Tools {
		for _, id := range executors {
			if x, ok := v.Program.Nodes[id].(*executor); ok && x.sees(t.Name) {
				out = append(out, t)
				break
			}
		}
	}
	return out
}

// reflectorOf is the reflector's Config, whose prompt other templates may use.
func reflectorOf(v engine.View) *ReflectorConfig {
	if x, ok := roleOf(v, "reflector").(*reflector); ok {
		return x.cfg
	}
	return Reflector.Config().(*ReflectorConfig)
}
