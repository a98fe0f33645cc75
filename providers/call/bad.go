package call

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/wire"
)

// Bad is an answer that is not what the protocol promises. Its words may quote
// the answer, and cut what they quote (%.100s): a Caller replaces secrets first.
func Bad(format string, args ...any) *model.Error {
	q := &quoting{format, args}
	return &model.Error{Kind: model.BadReply, Message: q.Error(), Err: q}
}

// Said is the body of an answer, of which Bad quotes the sentence that explains
// it, or else the beginning.
type Said []byte

// String implements fmt.Stringer.
func (s Said) String() string { return wire.Explain(s) }

// quoting is what a message is made of.
type quoting struct {
	format string
	args   []any
}

// Error implements error.
func (q *quoting) Error() string { return fmt.Sprintf(q.format, q.args...) }

// clean is the message without secrets, also where it cuts one.
func (q *quoting) clean(redact func(string) string) string {
	args := make([]any, len(q.args))
	for i, a := range q.args {
		switch a := a.(type) {
		case string:
			args[i] = redact(a)
		case []byte:
			args[i] = redact(string(a))
		case json.RawMessage:
			args[i] = redact(string(a))
		case Said:
			args[i] = Said(redact(string(a)))
		default:
			args[i] = a
		}
	}
	return fmt.Sprintf(q.format, args...)
}

// What is kept of a server's message: its beginning, and its end, where what
// helps to mend the failure stands.
const (
	maxHead = 1536
	maxTail = 512
)

// shortened is a message that people can read, in valid UTF-8: servers echo
// requests, or send pages.
func shortened(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxHead+maxTail {
		return s
	}
	return text.Head(s, maxHead) + " … " + text.Tail(s, maxTail)
}
