// Package modelhttp has what HTTP-based providers share around each model call.
//
//	Connect           the transport of one LLM
//	Caller.Reply, Do  attempts and retries until there is a reply
//	EncodeBody, Client.Post, Events  JSON requests, and event streams of replies
//	Refused, Bad      typed failures
//	Words             error kinds by the words of servers
//	SchemaName, Arguments  restrictions of protocols
//	AskForJSON        schemas in the prompt, for servers without a field for them
//	Transcript, ...   conversations as text, for servers without messages or tools
//	Address, CheckHeaders  faults of base_url and headers; At: places of options
//
// A provider defines how to make one attempt, and what its server's errors mean. The
// package must not know providers or their protocols.
package modelhttp
