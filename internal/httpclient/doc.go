// Package httpclient is the one HTTP transport of the house.
//
//	New(Settings) *Client          for model providers: typed failures, limits, repeats
//	   Client.HTTP() *http.Client     what a provider's library is given
//	   Client.Call(ctx, Job)          one logical call: breaker, rate limit, attempts, waits between them
//	Pool(Certificates)             its connections; Shared, SharedBreaker: what calls of a model share
//	NewGuarded(GuardSettings)      for tools that fetch what a model names: guarded dials, caps
//	NewTrace(writer)               shows the exchanges of all clients, for --verbose and --debug
//
// A request that the server refuses, that cannot be sent, or whose body ends
// early is an *Error whose Kind is one of the engine's words for a failed
// model call; secrets are replaced in every message by value. Libraries that
// turn errors into text lose nothing: Call remembers the typed failure.
//
// It must not know the engine (engine/secret aside), any provider's protocol, or its library.
package httpclient
