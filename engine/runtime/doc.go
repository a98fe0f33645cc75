// Package runtime runs a program: it walks the graph node by node, performs the
// effects of its nodes and records what happens.
//
//	Run -> connect tools -> walk the graph -> Node.Run(Scope)
//	Scope.Model -> fallback -> retry -> budget -> redact -> journal -> model.Model
//	Scope.Tool  -> arguments -> guards -> approval -> budget -> journal -> tool.Tool
//	facts -> engine.State -> events -> sinks; at the end an engine.Result
//
// It is the only package that knows both the contract (engine) and the scheduler
// (engine/kernel). Nodes, providers and builtins do not import it; commands, the run
// service and evaluations do.
package runtime
