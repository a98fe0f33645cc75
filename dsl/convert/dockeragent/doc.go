// Package dockeragent converts the configuration of a docker agent (cagent) to a
// spec.
//
// Each agent becomes a loop of its model and tools, a sub-agent or handoff a tool
// that runs another agent of the file. Toolsets become tools; what has no
// counterpart is reported as a note.
package dockeragent
