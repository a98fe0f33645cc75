// Package bedrock is the provider of Amazon Bedrock's models, by its Converse
// and ConverseStream operations and AWS's own Go SDK.
//
//	model.Request --input--> ConverseInput --signed, wire.Client--> Bedrock
//	ConverseOutput --answer--> model.Reply
//	event stream   --gather--> model.Reply, with deltas on the way
//	whatever fails --failure--> *model.Error
//
// The SDK writes, signs and reads; repeats, time limits, caps, rate limits and
// redaction are internal/wire's. Of the machine it sees the standard variables
// AWS_REGION, AWS_ACCESS_KEY_ID and their like, and nothing else, unless
// options.credentials is default: then the SDK looks for credentials where
// AWS's own tools do, by a client of its own.
//
// Signer is for tools that ask other AWS services: the SDK has one door.
//
// What Converse has no means for: a seed, the number of reasoning tokens (they
// are within the output's), an idempotency key, a choice of no tool, and for
// models other than Claude 4.5 and later a word against several calls in one
// reply. They are left out without a word. Thinking before a tool call is kept
// with the call and sent back with it, as models demand. Images, documents and
// other media are not sent, and not read.
//
// It must not know specs, runs, or any other provider.
package bedrock
