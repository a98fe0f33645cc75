// Package openai implements the provider for all servers that support OpenAI's
// chat-completions protocol, with OpenAI's Go SDK. Vendors with variants of it have their
// own factories: Azure, Ollama, Mistral.
//
//	Config of a vendor --dialect--> addresses and differences
//	model.Request --params--> SDK request --wire.Client--> server
//	whole body  --answer--> model.Reply
//	event stream --gather--> model.Reply, streaming deltas
//	texts --Embed, in batches--> vectors
//	any failure --failure--> *model.Error
//
// The SDK encodes requests and decodes events. Retries, timeouts, size limits, rate
// limits and redaction are handled by internal/httpclient; the SDK's own are off, and it reads
// nothing from the environment. Servers differ: fields that some omit or repeat (indexes,
// ids, usage, stop reasons) are repaired here, and what cannot be told from a broken
// reply is an error. Messages are text: images are not sent, and thinking is displayed
// but not sent back, since the protocol has no place for it.
//
// The package must not know specs, runs, or any other provider.
package openai
