// Package opensearch serves the agents of a tenant by the API of OpenSearch's ML Commons:
// connectors, models and agents that clients register, execution with tasks, and conversations.
//
//	request -> access.Client -> registry (register), runs (execute, tasks), memory -> ML Commons JSON
//
// A task is a run, a message is a run in its conversation, and a trace is a step. The package
// must not read journals but through access and turn.
package opensearch
