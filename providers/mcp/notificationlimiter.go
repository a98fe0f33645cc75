package mcp

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Limits of unsolicited messages.
const (
	maxOpenRequests   = 256  // requests of the server waiting for an answer
	notificationBurst = 200  // progress and log messages at once
	notificationRate  = 1000 // and per second; the rest is dropped
)

// allowedNotifications maps the notifications with a handler to whether they are rate limited. List changes are not
// included, because a run uses the tools that it started with.
var allowedNotifications = map[string]bool{
	"notifications/progress":             true,
	"notifications/message":              true,
	"notifications/cancelled":            false,
	"notifications/elicitation/complete": false,
}

// notificationLimiter makes floods of messages cheap. It allows one reader and any number of writers.
type notificationLimiter struct {
	openRequests atomic.Int64 // requests of the server without an answer

	tokens float64 // messages allowed at once
	last   time.Time
}

// allow reports by method whether to forward a notification.
func (s *notificationLimiter) allow(method string) bool {
	limited, ok := allowedNotifications[method]
	return ok && (!limited || s.takeToken())
}

// onReceive counts requests of the server. On error the connection should end.
func (s *notificationLimiter) onReceive(m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && s.openRequests.Add(1) > maxOpenRequests {
		return fmt.Errorf("the server has more than %d unanswered requests", maxOpenRequests)
	}
	return nil
}

// takeToken reports whether the rate limit allows a message.
func (s *notificationLimiter) takeToken() bool {
	now := time.Now()
	if s.last.IsZero() {
		s.tokens = notificationBurst
	} else {
		s.tokens = min(s.tokens+now.Sub(s.last).Seconds()*notificationRate, notificationBurst)
	}
	s.last = now
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

// onSend counts answers to the server.
func (s *notificationLimiter) onSend(m jsonrpc.Message) {
	if _, ok := m.(*jsonrpc.Response); ok {
		s.openRequests.Add(-1)
	}
}
