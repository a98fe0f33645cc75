// Package turn folds the events of a run into one turn of a conversation: its plan, tool
// calls, questions and answer. The protocols of the server (OpenAI, AG-UI, A2A, MCP,
// OpenSearch) are views of a Turn, and translate its changes.
//
//	access.Client.Watch -> feed.Item -> Turn.Apply -> Change -> a message of a protocol
//
// Changes follow from the journal, so they are the same for each client, after a restart, and
// when a run is read later. The package must not know any wire format but that of events.
package turn
