// Package modelhttp contains what HTTP-based providers share around each model call.
//
//	Connect            returns the transport of one LLM
//	Client.Reply, Do   make attempts until there is a reply
//	TransportError, Bad  return typed failures
//	ErrorWords         derives error kinds from the texts of servers
//	SchemaName, Object  adapt values to restrictions of protocols
//	AskForJSON         puts a schema in the prompt, for servers without a field for it
//	Transcript, ...    turn conversations into text, for servers without messages or tools
//	Address, CheckHeaders  report faults of base_url and headers
//
// A provider defines how to make one attempt, and what its server's errors mean. The
// package must not know providers or their protocols.
package modelhttp
