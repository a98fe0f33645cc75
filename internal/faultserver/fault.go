package faultserver

import (
	"slices"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// fault is one kind of server failure.
type fault struct {
	name   string
	serve  func(*stage)
	whole  outcome // of calls without streaming
	stream outcome // of streaming calls
	lane   lane
	dear   bool             // slow: a run uses it in one round only
	raw    bool             // takes over the connection, which HTTP/2 does not allow
	heals  bool             // if it happens only once, the transport recovers by itself
	ends   bool             // the call is not repeated, because the server asks for too long a wait
	says   string           // expected text of the reply; "" = Answer
	either bool             // Answer is accepted too
	waits  [2]time.Duration // before the second and third attempt; zero = not checked
}

// lane is the kind of server that a fault needs.
type lane int

const (
	plain  lane = iota
	reused      // one connection for several requests
	secure      // TLS
	severed
	strange // TLS with an untrusted certificate
	lanes
)

// outcome is the expected result of a call while a fault persists.
type outcome struct {
	answer bool // the right answer
	kinds  []model.ErrorKind
}

var right = outcome{answer: true}

func wrong(kinds ...model.ErrorKind) outcome { return outcome{kinds: kinds} }

func maybe(kinds ...model.ErrorKind) outcome { return outcome{true, kinds} }

func (f *fault) outcome(streamed bool) outcome {
	if streamed {
		return f.stream
	}
	return f.whole
}

// passes reports whether repeating the call may avoid the fault.
func (o outcome) passes() bool {
	return slices.ContainsFunc(o.kinds, func(k model.ErrorKind) bool {
		return (&model.Error{Kind: k}).Retryable()
	})
}

// both is a fault with the same effect on whole replies and streams.
func both(name string, o outcome, serve func(*stage)) fault {
	return fault{name: name, serve: serve, whole: o, stream: o}
}

// apart is a fault with different effects on whole replies and streams.
func apart(name string, whole, stream outcome, serve func(*stage)) fault {
	return fault{name: name, serve: serve, whole: whole, stream: stream}
}

// faults returns the faults that apply to a format.
func faults(f *Format) []fault {
	dear := slices.Concat(floods(f), crowds(f), depths())
	for i := range dear {
		dear[i].dear = true
	}
	return slices.Concat(refusals(), redirects(), connections(), cuts(f), contents(f), shapes(f), dear)
}
