// Package costbound computes the most that one run of a Program can ask of models: calls,
// tokens and USD, whatever models, tools and humans answer.
//
//	Program --walk--> how often each node is visited, how many steps it starts
//	        --each node's WorstCase--> its calls, including nested agents
//	        --LLMs--> the most expensive answer of each call, and those that may be lost
//	        --limits--> Estimate
//
// Bound is the entry point. An unbounded Quantity has a reason. Nodes and tools declare
// their own worst case (engine.Bounded, engine.BoundedTool): the package knows no kinds
// of them, and no files. The result holds for a run whose process does not crash: a call
// in flight then may be made, and billed, again.
package costbound
