// Package anthropic implements the provider for Anthropic's Messages API, and every
// server that supports it (Ollama, vLLM, gateways).
//
//	model.Request --prepare--> body --modelhttp.Client--> server
//	body of a reply --parseReply--> model.Reply
//	event stream --accumulator--> model.Reply, streaming deltas
//	any failure --typed--> *model.Error
//
// protocol.go has the fields of requests and replies. Retries, timeouts, size limits, rate
// limits and redaction are handled by internal/httpclient.
//
// Thinking before tool calls is signed, and the API needs it back unchanged in the tool
// loop, after the same conversation. It is stored in model.ToolCall.Opaque with a digest
// of the preceding messages. If the conversation was shortened, or continues with another
// model, the digest differs and the thinking is dropped, together with a fixed thinking
// budget, which requires it, until the next user message. Thinking before an answer
// without tool calls is not stored: the API does not need it.
//
// Not supported by the API: seed and idempotency keys. Images, documents and the API's
// own tools are out of scope.
//
// The package must not know specs, runs, or any other provider.
package anthropic
