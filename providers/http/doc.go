// Package http implements the provider for models behind plain HTTP, like OpenSearch
// connectors, with the standard library and internal/httpclient only.
//
//	model.Request --values--> ${args.prompt}, ${args.messages}, ... in the format of llm_interface
//	values --request_body, or the interface's own body--> JSON --httpclient--> server
//	whole body --response_filter, or the interface--> model.Reply, as one delta
//	any failure --> *model.Error
//
// Templates are filled with values, not text: inside a JSON string a value is escaped,
// elsewhere it is a JSON value, and an unset value removes its member. No value can
// change the structure of a body. Responses are not parsed by fixed indexes: text may
// follow a reasoning block.
//
// Streams and images are not supported. AWS signatures are left to the bedrock provider;
// a Bedrock API key is sent as a bearer token.
//
// The package must not know specs, runs, or any other provider.
package http
