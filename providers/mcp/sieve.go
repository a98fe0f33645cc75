package mcp

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of what a server may say unasked.
const (
	mostAsked  = 256  // requests of the server that wait for an answer
	mostNews   = 200  // reports and log lines at once, and
	newsSecond = 1000 // a second; more are passed over
)

// heard are the notifications that somebody listens to, and whether there may be
// too many of them. What says that lists have changed is none of them, since a
// run keeps the tools that it began with.
var heard = map[string]bool{
	"notifications/progress":             true,
	"notifications/message":              true,
	"notifications/cancelled":            false,
	"notifications/elicitation/complete": false,
}

// sieve keeps a storm of messages from costing more than reading it. It is used
// by one reader and any number of writers.
type sieve struct {
	asked atomic.Int64 // requests of the server without an answer

	news float64 // messages that may pass at once
	last time.Time
}

// heard says whether a notification goes on, by its method.
func (s *sieve) heard(method string) bool {
	limited, ok := heard[method]
	return ok && (!limited || s.fresh())
}

// in takes note of a message of the server. An error says that the connection
// had better end.
func (s *sieve) in(m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && s.asked.Add(1) > mostAsked {
		return fmt.Errorf("the server asks more than %d things before it has heard an answer", mostAsked)
	}
	return nil
}

// fresh says that there was not too much news of late.
func (s *sieve) fresh() bool {
	now := time.Now()
	if s.last.IsZero() {
		s.news = mostNews
	} else {
		s.news = min(s.news+now.Sub(s.last).Seconds()*newsSecond, mostNews)
	}
	s.last = now
	if s.news < 1 {
		return false
	}
	s.news--
	return true
}

// out takes note of an answer to the server.
func (s *sieve) out(m jsonrpc.Message) {
	if _, ok := m.(*jsonrpc.Response); ok {
		s.asked.Add(-1)
	}
}
