// Package openai implements the provider for all servers that support OpenAI's
// chat-completions protocol. Vendors with variants of it have their own factories: Azure,
// Ollama, Mistral.
//
//	Config of a vendor --dialect--> URL and differences
//	model.Request --chatRequest--> body --modelhttp.Client--> server
//	body of a reply --parseReply--> model.Reply
//	event stream --accumulator--> model.Reply, streaming deltas
//	texts --Embed, in batches--> vectors
//	any failure --typed--> *model.Error
//
// protocol.go has the fields of requests and replies. Retries, timeouts, size limits, rate
// limits and redaction are handled by internal/httpclient. Servers differ: fields that some
// omit or repeat (indexes, ids, usage, stop reasons) are repaired here, and what cannot be
// distinguished from a broken reply is an error. Messages are text: images are not sent, and
// thinking is displayed but not sent back, since the protocol has no field for it.
//
// The package must not know specs, runs, or any other provider.
package openai
