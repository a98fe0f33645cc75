// Package openai is the provider of every server that speaks OpenAI's
// chat-completions protocol, through OpenAI's own Go SDK. Vendors that speak it
// in their own way have a factory of their own: Azure, Ollama, Mistral.
//
//	Config of a vendor --dialect--> where its servers are, what they want otherwise
//	model.Request --params--> SDK request --wire.Client--> server
//	whole body  --answer--> model.Reply
//	event stream --gather--> model.Reply, with deltas on the way
//	texts --Embed, in batches--> vectors
//	whatever fails --failure--> *model.Error
//
// The SDK writes requests and reads events. Repeats, time limits, caps, rate
// limits and redaction are internal/wire's; the SDK's own are off, and it reads
// nothing from the environment. Servers differ: what some leave out or write
// twice (indexes, ids, usage, stop reasons) is mended here, and what cannot be
// told from a broken reply is an error, never an answer. Messages are text:
// images are not sent, and thinking is shown but not sent back, for which the
// protocol has no place.
//
// It must not know specs, runs, or any other provider.
package openai
