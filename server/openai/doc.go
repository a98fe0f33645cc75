// Package openai serves agents to OpenAI clients: models, chat completions and responses.
//
//	request -> question and conversation -> access.Client -> run
//	run -> turn.Follow -> changes -> chunks of a chat, or items and events of a response
//
// A chat completion or a response is a view of a run: nothing is stored besides its journal.
// The package must not know how runs execute.
package openai
