// Package call is what providers over HTTP do alike around each call of a model.
//
//	Connect           the transport of one llm
//	Caller.Reply, Do  attempts and the waits between them, until there is a reply
//	Refused, Bad      failures as the engine types them
//	Words             kinds of failures by what servers say of them
//	SchemaName, Arguments  what protocols are particular about
//	AskForJSON        a schema as a wish, where a server has no field for it
//	Transcript, ...   conversations in words, where a server has no messages or no tools
//	Address, CheckHeaders  faults of a base_url and of headers; At: where options stand
//
// A provider tells how to make one attempt, and what its server's refusals mean.
// The package must not know any of them, nor their protocols.
package call
