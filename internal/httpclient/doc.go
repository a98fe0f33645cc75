// Package httpclient is the only HTTP transport of pex.
//
//	New(Settings) *Client          for model providers: typed failures, limits, retries
//	   Client.HTTP() *http.Client     the client for a provider's library
//	   Client.Call(ctx, Call)         one logical call: breaker, rate limit, attempts, waits between them
//	Pool(Certificates)             its connections; Shared, SharedBreaker: state shared by the calls of a model
//	NewGuarded(GuardSettings)      for tools that fetch addresses from a model: guarded dials, size limits
//	NewTrace(writer)               logs the exchanges of all clients, for --verbose and --debug
//
// A request that the server rejects, that cannot be sent, or whose body ends early is an *Error whose Kind is a
// model.ErrorKind. Secrets are redacted in every message. Libraries that convert errors to text lose nothing, because
// Call keeps the typed failure.
//
// The package must not know the engine (except engine/secret and engine/tracecontext), any provider's protocol, or its library.
package httpclient
