// Package adk converts the agent configs of Google's Agent Development Kit to a
// spec.
//
// An LLM agent becomes a loop of its model and tools, sub-agents that it transfers
// to tools that run other agents of the spec, a sequential, parallel or loop agent
// a graph of agent nodes. What is Python (functions, callbacks, schemas) is
// reported as a note.
package adk
