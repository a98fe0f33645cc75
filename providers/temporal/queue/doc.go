// Package queue names the task queues of Temporal on which the work of runs waits, and limits them.
//
//	pex              workflows: the runs themselves
//	pex.llm.NAME     calls of the models of an llm, at the rate of its rate_limit
//	pex.tool         calls of tools
//	pex.tool.LABEL   calls of tools that need a host with this label
//	pex.memory       conversations
//
// Programs whose llms have the same name share a queue, and so its limit: Limits reports those that
// disagree. Within a queue the tenants take turns: Share.
package queue
