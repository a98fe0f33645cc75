// Package genai is the provider of Google's Gemini models, by the Gemini API
// (generateContent and streamGenerateContent) with an API key.
//
//	model.Request --contents, declarations, generation--> request body --wire.Client--> server
//	whole body   --gather--> model.Reply
//	event stream --events, gather--> model.Reply, with deltas on the way
//	whatever fails --failure--> *model.Error
//
// Google's Go SDK is not used: its client panics on bodies of another shape,
// writes to the process's log, takes settings from the environment, and turns
// arguments into maps, which loses their order and long numbers. Requests go
// through internal/wire.
//
// A tool call carries the model's thought signature as its opaque part, since
// newer models refuse a conversation without it. What the API has no means for:
// refusals and stop sequences are not told from other ends, a name of a reply
// schema is not sent, and one call a reply can only be asked for in words.
// Images, sound and files are not sent, and passed over in replies.
//
// It must not know specs, runs, or any other provider.
package genai
