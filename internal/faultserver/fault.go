package faultserver

import (
	"slices"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// fault is one way in which a server may fail.
type fault struct {
	name   string
	serve  func(*stage)
	whole  outcome // of calls for a whole reply
	stream outcome // of calls for a stream
	lane   lane
	dear   bool             // it takes a lot of time: a run meets it in one round only
	raw    bool             // it takes the connection over, which HTTP/2 does not allow
	heals  bool             // where it happens only once, the transport gets past it by itself
	ends   bool             // the call is not repeated: the server asks for too long a wait
	says   string           // what the answer says, "" = Answer
	either bool             // or it says Answer
	waits  [2]time.Duration // before the second and the third attempt; zero = not looked at
}

// lane is what kind of server a fault needs.
type lane int

const (
	plain  lane = iota
	reused      // one connection, used again and again
	secure      // TLS
	severed
	strange // TLS, with a certificate that nobody knows
	lanes
)

// outcome is what a call comes to while a fault stays.
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

// passes says that a repeated call may meet the fault no more.
func (o outcome) passes() bool {
	return slices.ContainsFunc(o.kinds, func(k model.ErrorKind) bool {
		return (&model.Error{Kind: k}).Retryable()
	})
}

// both is a fault that does the same to whole replies and to streams.
func both(name string, o outcome, serve func(*stage)) fault {
	return fault{name: name, serve: serve, whole: o, stream: o}
}

// apart is a fault that does this to whole replies and that to streams.
func apart(name string, whole, stream outcome, serve func(*stage)) fault {
	return fault{name: name, serve: serve, whole: whole, stream: stream}
}

// faults are those that a format can have.
func faults(f *Format) []fault {
	dear := slices.Concat(floods(f), crowds(f), depths())
	for i := range dear {
		dear[i].dear = true
	}
	return slices.Concat(refusals(), redirects(), connections(), cuts(f), contents(f), shapes(f), dear)
}
