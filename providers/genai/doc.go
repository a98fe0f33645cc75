// Package genai implements the provider for Google's Gemini models, with the Gemini API
// (generateContent and streamGenerateContent) and an API key.
//
//	model.Request --contents, declarations, generation--> request body --httpclient--> server
//	whole body   --accumulator--> model.Reply
//	event stream --accumulator--> model.Reply, streaming deltas
//	any failure --failure--> *model.Error
//
// It does not use Google's Go SDK, whose client panics on unexpected bodies, writes to
// the process's log, reads settings from the environment, and converts arguments to maps,
// losing their order and long numbers. Requests use internal/httpclient.
//
// A tool call carries the model's thought signature as opaque data, since newer models
// reject a conversation without it. Not supported by the API: refusals and stop sequences
// are not distinguished from other stop reasons, the name of a reply schema is not sent,
// and single tool calls can only be requested in the prompt. Images, audio and files are
// not sent, and ignored in replies.
//
// The package must not know specs, runs, or any other provider.
package genai
