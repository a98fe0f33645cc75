// Package http is the provider of models behind plain HTTP: a connector as
// OpenSearch has them, with the standard library and internal/wire only.
//
//	model.Request --values--> ${args.prompt}, ${args.messages}, ... in the shape of llm_interface
//	values --request_body, or the interface's own body--> JSON --wire.Client--> server
//	whole body --response_filter, or the interface--> model.Reply, as one delta
//	whatever fails --failure--> *model.Error
//
// A template is filled by values, never by text: inside a JSON string a value
// is escaped, elsewhere it is JSON of its own, and what is unset falls away with
// the member that holds it. So no value can change the form of a body. Nothing
// is found by a fixed index: text may stand behind a block of reasoning.
//
// There are no streams and no images, and AWS's signatures are the bedrock
// provider's: a Bedrock API key goes as a bearer's token.
//
// It must not know specs, runs, or any other provider.
package http
