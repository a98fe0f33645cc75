package dsl

import (
	"reflect"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// builtNode is a node that is not yet in the program.
type builtNode struct {
	id, typ string
	config  any // nil for an unknown type
	value   *syntax.Node
}

// nodes decodes the roles and builds the graph: the one in the spec, or the
// default for the reflector's strategy.
func (c *compiler) nodes() {
	sections := map[string]*syntax.Node{
		language.Planner: c.doc.Planner, language.Executor: c.doc.Executor, language.Reflector: c.doc.Reflector, language.Finalizer: c.doc.Finalizer,
	}
	var all []builtNode
	for _, role := range language.Roles {
		v := sections[role]
		if v == nil {
			v = &syntax.Node{Position: c.tree.Position, Kind: syntax.Map}
		}
		b := builtNode{role, role, c.config(role, v.Position), v}
		before := len(c.Report.List)
		c.NoModels = c.doc.Graph != nil && sections[role] == nil && len(c.Names) == 0
		if b.config != nil {
			c.Decode(v, role, b.config)
		}
		if role == language.Planner {
			c.Fallback = c.Base
			c.Broken = c.Report.FailedSince(before) && c.Base == ""
		}
		all = append(all, b)
	}
	c.NoModels = false
	c.reserve(all)
	c.compaction()
	c.checkToolNames(all)
	c.program.Nodes = map[string]engine.Node{}
	if c.doc.Graph != nil {
		c.writtenGraph(all)
		return
	}
	c.defaultGraph(all, defaultGraphSpec(all))
}

// batchSizeOf returns how much of a plan the executor of a written graph runs at a
// time: as much as its first reflector needs, or everything if there is none.
func batchSizeOf(all []builtNode) engine.BatchSize {
	for _, b := range all {
		if w, ok := b.config.(engine.GraphBuilder); ok {
			return w.DefaultGraph().Batch
		}
	}
	return engine.AllSteps
}

// config returns the Config of a node type, with its defaults.
func (c *compiler) config(typ string, at syntax.Position) any {
	f, ok := c.loader.options.Catalog.Nodes.Find(typ)
	if !ok {
		c.Report.Error(diag.UnknownType, at, "unknown node type %s", syntax.Quote(typ)).Advice = diag.Suggest(typ, c.loader.options.Catalog.Nodes.Types())
		return nil
	}
	return f.Config()
}

// reserve sets the part of the token limit that is reserved for the finalizer.
func (c *compiler) reserve(all []builtNode) {
	for _, b := range all {
		if r, ok := b.config.(engine.TokenReserver); ok {
			c.program.Limits.ReserveTokens = r.ReservedTokens()
		}
	}
}

// defaultGraphSpec returns the default graph for the reflector's Config.
func defaultGraphSpec(all []builtNode) engine.GraphSpec {
	for _, b := range all {
		if w, ok := b.config.(engine.GraphBuilder); ok {
			return w.DefaultGraph()
		}
	}
	return engine.GraphSpec{}
}

// add builds a node and adds it to the program.
func (c *compiler) add(b builtNode, take engine.BatchSize) {
	f, ok := c.loader.options.Catalog.Nodes.Find(b.typ)
	if !ok || b.config == nil || c.Report.List.Failed() {
		return
	}
	n, err := f.Build(b.config, engine.NodeSettings{ID: b.id, Batch: take})
	if err != nil {
		c.ReportBuildError(b.value, b.value.Position, "node "+syntax.Quote(b.id), err)
		return
	}
	c.program.Nodes[b.id] = n
}

// modelsOf returns the LLMs that configs name.
func modelsOf(all []builtNode) []string {
	var out []string
	for _, b := range all {
		if b.config == nil {
			continue
		}
		fields, _ := config.Fields([]reflect.Value{config.Struct(b.config)})
		if m := config.ModelField(fields); m != nil {
			out = append(out, m.Value.Interface().(component.ModelRef).Name)
		}
	}
	return out
}
