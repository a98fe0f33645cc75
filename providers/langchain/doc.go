// Package langchain is the provider of the models that only langchaingo has a
// client for: one file a backend, listed in backend.go.
//
//	engine.Request --turns--> llms.MessageContent --langchaingo--> request
//	request --door: our address, the parameters it left out--> wire.Client --> server
//	answer  --door: id, usage, stop reason, errors it drops--> langchaingo --> text
//	text + what the door read --> engine.Reply; whatever fails --> *engine.ModelError
//
// langchaingo's clients (v0.1.14) lose most of what a call is about: all but
// the first message, temperature 0, seed, limits, usage, stop reasons, the
// status of errors, the end of a stream. They take keys and addresses from the
// environment, and a client of their own for HTTP. So each of their requests
// goes through a door of ours, which sends it to one address, with one key,
// puts in what is missing, and reads what they would drop. What comes back is
// checked there: an answer that is an error, or no answer, never reaches them;
// a stream is read by the door alone.
//
// No backend calls tools, and none takes images. Three of langchaingo's clients
// are not here: local runs a program with the prompt among its arguments, and
// adds each prompt to those of the next call; watsonx has an HTTP client that
// cannot be replaced and takes no context, so that nothing could end a call;
// cohere speaks /v1/generate alone, which Cohere removed on 2025-09-15: provider
// openai with base_url https://api.cohere.ai/compatibility/v1 asks its models.
//
// It must not know specs, runs, or any other provider.
package langchain
