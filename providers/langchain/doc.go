// Package langchain implements the provider for models that only langchaingo supports:
// Baidu Qianfan's API V1.
//
//	model.Request --prompt--> langchaingo --request--> exchange.RoundTrip
//	exchange: our address, key and parameters --> httpclient --> server
//	response --exchange: id, usage, stop reason, errors--> langchaingo --> text
//	text + what the exchange read --> model.Reply; failures --> *model.Error
//
// langchaingo's client (v0.1.14) sends only the first message, always sends temperature
// 0, sends neither limit nor stop, uses ERNIE-Bot for unknown model names, and exits the
// process on an unreadable stream. It drops usage, stop reasons and the status of errors,
// and reads keys and addresses from the environment. Its requests therefore go through
// our own transport, which sets address and key, adds what is missing, and reads what the
// client would drop. Error responses never reach the client.
//
// Tool calls, images and streams are not supported. For vendors with an OpenAI-compatible
// endpoint use the provider openai.
//
// The package must not know specs, runs, or any other provider.
package langchain
