// Package crewai converts the agents and tasks of a CrewAI crew to a spec.
//
//	agents.yaml, tasks.yaml --> spec.yaml: a graph that runs the tasks in order
//
// Each agent of the crew becomes an agent of the spec, each task a node that asks
// one of them. What a crew defines in Python (tools, the process, which agent has
// which task) is not in its YAML: it is reported as a note.
package crewai
