// Package bedrock implements the provider for Amazon Bedrock's models, with the
// operations Converse and ConverseStream and the AWS SDK for Go.
//
//	model.Request --input--> ConverseInput --signed, httpclient--> Bedrock
//	ConverseOutput --answer--> model.Reply
//	event stream   --gather--> model.Reply, streaming deltas
//	any failure --failure--> *model.Error
//
// The SDK encodes, signs and decodes; retries, timeouts, size limits, rate limits and
// redaction are handled by internal/httpclient. It reads only the standard variables
// AWS_REGION, AWS_ACCESS_KEY_ID and so on, unless options.credentials is default: then
// the SDK searches for credentials like AWS's own tools, with its own client.
//
// Signer is for tools that call other AWS services, so that only this package imports the
// SDK.
//
// Not supported by Converse: a seed, the number of reasoning tokens (included in the
// output), an idempotency key, a tool choice of none, and, except for Claude 4.5 and
// later, disabling parallel tool calls. They are omitted silently. Thinking before a tool
// call is stored with the call and sent back with it, as models require. Images,
// documents and other media are neither sent nor read.
//
// The package must not know specs, runs, or any other provider.
package bedrock
