package faultserver

import (
	"slices"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// fault is one kind of server failure.
type fault struct {
	name     string
	serve    func(*exchange)
	whole    outcome // of calls without streaming
	stream   outcome // of streaming calls
	server   serverKind
	slow     bool             // slow: a run uses it in one round only
	hijacks  bool             // takes over the connection, which HTTP/2 does not allow
	recovers bool             // if it happens only once, the transport recovers by itself
	final    bool             // the call is not repeated, because the server asks for too long a wait
	text     string           // expected text of the reply; "" = Answer
	orAnswer bool             // Answer is accepted too
	waits    [2]time.Duration // before the second and third attempt; zero = not checked
}

// serverKind is the kind of server that a fault needs.
type serverKind int

const (
	plain      serverKind = iota
	reusedConn            // one connection for several requests
	overTLS               // TLS
	brokenTLS
	untrustedTLS // TLS with an untrusted certificate
	serverKinds
)

// outcome is the expected result of a call while a fault persists.
type outcome struct {
	ok    bool // the right answer
	kinds []model.ErrorKind
}

var succeeds = outcome{ok: true}

func fails(kinds ...model.ErrorKind) outcome { return outcome{kinds: kinds} }

func mayFail(kinds ...model.ErrorKind) outcome { return outcome{true, kinds} }

func (f *fault) outcome(streamed bool) outcome {
	if streamed {
		return f.stream
	}
	return f.whole
}

// retryable reports whether repeating the call may avoid the fault.
func (o outcome) retryable() bool {
	return slices.ContainsFunc(o.kinds, func(k model.ErrorKind) bool {
		return (&model.Error{Kind: k}).Retryable()
	})
}

// both is a fault with the same effect on whole replies and streams.
func both(name string, o outcome, serve func(*exchange)) fault {
	return fault{name: name, serve: serve, whole: o, stream: o}
}

// perMode is a fault with different effects on whole replies and streams.
func perMode(name string, whole, stream outcome, serve func(*exchange)) fault {
	return fault{name: name, serve: serve, whole: whole, stream: stream}
}

// faults returns the faults that apply to a format.
func faults(f *Format) []fault {
	dear := slices.Concat(floods(f), manyCalls(f), deepValues())
	for i := range dear {
		dear[i].slow = true
	}
	return slices.Concat(statusFaults(), redirects(), connectionFaults(), truncations(f), invalidValues(f), nonReplies(f), dear)
}
