// Package anthropic is the provider of Anthropic's Messages API, and of every
// server that speaks it (Ollama, vLLM, gateways), through Anthropic's own Go SDK.
//
//	model.Request --params--> SDK request --wire.Client--> server
//	whole body  --answer--> model.Reply
//	event stream --gather--> model.Reply, with deltas on the way
//	whatever fails --failure--> *model.Error
//
// The SDK writes requests and reads events. Repeats, time limits, caps, rate
// limits and redaction are internal/wire's. The SDK's own are off, and it reads
// nothing from the environment: requests go through its plain Post, since its
// methods for messages have time limits, traces and warnings of their own.
//
// Thinking that led to tool calls is signed, and the API wants it back in the
// tool loop, unchanged and after the same conversation. It travels in
// model.ToolCall.Opaque, with a digest of what was sent before it. Where a
// conversation was shortened since, or goes on with another model, the digest
// differs and the thinking is left out; a fixed thinking budget, which does not
// bear that, is left out with it until the next user message. Thinking before an
// answer without tool calls is not kept: the API does not need it.
//
// What the API has no means for: seed is not sent (there is none), and there is
// no idempotency key. Images, documents and the API's own tools are out of scope.
//
// It must not know specs, runs, or any other provider.
package anthropic
