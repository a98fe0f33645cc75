package call

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/pexctl/pex/engine/model"
)

// Bounds of what is believed of a reply.
const (
	MaxCalls  = 128     // tool calls
	MaxName   = 1024    // bytes of the name of a tool
	MaxReply  = 4 << 20 // bytes of a streamed reply: text, thinking and arguments; the longest that a model writes is a fraction
	maxTokens = 1 << 40 // of any count
)

// Stream is what the streams of all protocols have in common: where the pieces
// of a reply go, when the first came, and how much came. The zero value is that
// of a reply that comes whole.
type Stream struct {
	Deltas  func(model.Delta) // nil = nobody wants them
	Started time.Time

	first time.Duration
	size  int
}

// Grow counts bytes of a reply; the error ends a stream that is longer than
// MaxReply. The bound of the transport counts frames too, which are many times
// what they carry.
func (s *Stream) Grow(bytes int) error {
	if s.size += bytes; s.size > MaxReply {
		return Bad("the reply is longer than %d bytes", MaxReply)
	}
	return nil
}

// Arrived notes that a part of the reply came.
func (s *Stream) Arrived() {
	if s.first == 0 {
		s.first = max(time.Since(s.Started), 1)
	}
}

// Show passes a piece of the reply on.
func (s *Stream) Show(d model.Delta) {
	if d != (model.Delta{}) && s.Deltas != nil {
		s.Arrived()
		s.Deltas(d)
	}
}

// Ended completes a streamed reply.
func (s *Stream) Ended(out *model.Reply, err error) (*model.Reply, error) {
	if err != nil {
		return nil, err
	}
	out.FirstToken = s.first
	return out, nil
}

// AddCall appends a tool call to those of a reply. Servers that send an empty
// one mean none; one without arguments has an empty object.
func AddCall(calls []model.ToolCall, c model.ToolCall) ([]model.ToolCall, error) {
	switch {
	case c.Name == "" && len(c.Args) == 0:
		return calls, nil
	case c.Name == "":
		return nil, Bad("a tool call has no name, only arguments %.100s", c.Args)
	case len(c.Name) > MaxName:
		return nil, Bad("the name of a tool call is longer than %d bytes", MaxName)
	case len(calls) == MaxCalls:
		return nil, Bad("more than %d tool calls in one reply", MaxCalls)
	case len(c.Args) == 0 || string(c.Args) == "null":
		c.Args = json.RawMessage("{}")
	}
	return append(calls, c), nil
}

// Finish makes a reply one that the engine takes: valid UTF-8, calls with ids,
// and token counts, estimated where the server has none.
func Finish(req *model.Request, out *model.Reply) {
	out.Text = strings.ToValidUTF8(out.Text, "\uFFFD")
	req.Identify(out.Calls)
	if out.Usage.Total() == 0 {
		out.Estimated = true
		out.Usage.Input = req.Estimate()
		out.Usage.Output = out.Estimate()
	}
}

// Plausible reports whether token counts can be true. Others count as missing.
func Plausible[N int | int64](counts ...N) bool {
	for _, n := range counts {
		if n < 0 || int64(n) > maxTokens {
			return false
		}
	}
	return true
}

// uncounted says that a server did not count what a reply took. Those that refuse
// or block one often count nothing.
func uncounted(r *model.Reply) bool {
	return r.Estimated && (r.Stop == model.EndTurn || r.Stop == model.ToolUse || r.Stop == model.MaxTokens || r.Stop == model.StopSequence)
}

// leastCut is the estimate, in tokens, below which a prompt is not compared with
// what its server counted.
const leastCut = 1000

// uncountedInput is the estimated tokens of a request's messages where the server
// counted less than half of them, as one does that cuts a prompt to its context
// window and says nothing; else 0. Definitions of tools are left out: servers
// render them in fewer tokens. So are repeats of a character and white space, which
// make long tokens.
func uncountedInput(req *model.Request, r *model.Reply) int {
	n := 0
	for _, m := range req.Messages {
		for _, text := range m.Text {
			var last rune
			for _, c := range text {
				if c != last && !unicode.IsSpace(c) || !unicode.IsSpace(last) && unicode.IsSpace(c) {
					n++
				}
				last = c
			}
		}
	}
	n = model.EstimateTokens(n)
	if r.Estimated || n < leastCut || 2*r.Usage.Input >= n {
		return 0
	}
	return n
}
