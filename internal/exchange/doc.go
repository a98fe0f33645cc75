// Package exchange keeps what a provider and a server said to each other over
// HTTP, and says it again.
//
//	NewRecorder(server).RoundTrip ... --Recording(about, secrets)--> Recording
//	Recording.Write --> a txtar file --> Read --> Recording
//	NewPlayer(t, recording).RoundTrip: the recorded answers, each to its recorded request
//
// A file says where it comes from, is read as text in a review, and holds no
// key: headers are kept by name, secrets are replaced by value. A player is
// strict: a request that differs from the recorded one fails the test with a
// diff, so a change of what a provider sends is seen.
//
// It must not know any provider, nor what the exchanges are about.
package exchange
