// Package langchain is the provider of the models that only langchaingo has a
// client for: Baidu Qianfan's API V1.
//
//	model.Request --prompt--> langchaingo --request--> exchange.RoundTrip
//	exchange: our address, key and parameters --> wire.Client --> server
//	answer --exchange: id, usage, stop reason, errors it drops--> langchaingo --> text
//	text + what the exchange read --> model.Reply; failures --> *model.Error
//
// langchaingo's client (v0.1.14) sends the first message alone, a temperature
// of 0 that nobody asked for, no limit and no stop, asks ERNIE-Bot for every
// model whose name it does not know, and ends the process at a stream that it
// cannot read. It drops usage, stop reasons and the status of errors, and takes
// keys and addresses from the environment. So its requests go through a
// transport of ours, which sends each to one address, with one key, puts in
// what is missing, and reads what the client would drop. An answer that is an
// error never reaches the client.
//
// There are no tool calls, images or streams. Vendors with an OpenAI-compatible
// endpoint are asked by provider openai.
//
// It must not know specs, runs, or any other provider.
package langchain
