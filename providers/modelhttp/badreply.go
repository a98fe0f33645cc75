package modelhttp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/httpclient"
)

// Bad returns the error for a response that violates the protocol. Its arguments may
// quote the response and shorten quotes (%.100s): a Caller redacts secrets first.
func Bad(format string, args ...any) *model.Error {
	q := &badReply{format, args}
	return &model.Error{Kind: model.BadReply, Message: q.Error(), Err: q}
}

// ErrorBody is the body of an error response. Bad quotes its message, or else its start.
type ErrorBody []byte

// String implements fmt.Stringer.
func (s ErrorBody) String() string { return httpclient.Explain(s) }

// badReply is a message before formatting.
type badReply struct {
	format string
	args   []any
}

// Error implements error.
func (q *badReply) Error() string { return fmt.Sprintf(q.format, q.args...) }

// redacted returns the message without secrets, including partial ones.
func (q *badReply) redacted(redact func(string) string) string {
	args := make([]any, len(q.args))
	for i, a := range q.args {
		switch a := a.(type) {
		case string:
			args[i] = redact(a)
		case []byte:
			args[i] = redact(string(a))
		case json.RawMessage:
			args[i] = redact(string(a))
		case ErrorBody:
			args[i] = ErrorBody(redact(string(a)))
		default:
			args[i] = a
		}
	}
	return fmt.Sprintf(q.format, args...)
}

// Parts of a server's message that are shown: its start, and its end, which often has the cause.
const (
	maxHead = 1536
	maxTail = 512
)

// shorten returns a readable message in valid UTF-8: servers echo requests, or send
// pages.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxHead+maxTail {
		return s
	}
	return text.Head(s, maxHead) + " … " + text.Tail(s, maxTail)
}
