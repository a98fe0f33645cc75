// Package httprecord records and replays HTTP exchanges between a provider and a server.
//
//	NewRecorder(server).RoundTrip ... --Recording(about, secrets)--> Recording
//	Recording.Write --> a txtar file --> Read --> Recording
//	NewPlayer(t, recording).RoundTrip: the recorded responses, each to its recorded request
//
// A file names its origin, is reviewed as text, and contains no keys: only listed headers
// are kept, and secrets are redacted by value. A player is strict: a request that differs
// from the recorded one fails the test with a diff, so changes of a provider's requests
// are noticed.
//
// The package must not know providers, nor what the exchanges are about.
package httprecord
