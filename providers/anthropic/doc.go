// Package anthropic implements the provider for Anthropic's Messages API, and every
// server that supports it (Ollama, vLLM, gateways), with Anthropic's Go SDK.
//
//	model.Request --params--> SDK request --wire.Client--> server
//	whole body  --answer--> model.Reply
//	event stream --gather--> model.Reply, streaming deltas
//	any failure --failure--> *model.Error
//
// The SDK encodes requests and decodes events. Retries, timeouts, size limits, rate
// limits and redaction are handled by internal/httpclient. The SDK's own are off, and it reads
// nothing from the environment: requests use its plain Post, since its message methods
// have their own timeouts, traces and warnings.
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
