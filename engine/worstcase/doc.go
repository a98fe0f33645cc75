// Package worstcase tells the most that one run of a Program can ask of models:
// calls, tokens and USD, whatever models, tools and people answer.
//
//	Program --walk--> how often each node is visited, how many steps it starts
//	        --each node's Worst--> what it asks for that, agents within included
//	        --llms--> the dearest answer of each call, and those that may get lost
//	        --limits--> Estimate
//
// Bound is the door. A figure that nothing bounds says why. A node or tool tells
// its own worst case (engine.Bounded, engine.BoundedTool): the package knows no
// kind of them, and nothing of files. It holds for a run whose process does not
// die: a call that was under way then may be made, and billed, again.
package worstcase
