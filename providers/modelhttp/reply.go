package modelhttp

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pexctl/pex/engine/model"
)

// Limits of what is accepted in a reply.
const (
	MaxCalls  = 128     // tool calls
	MaxName   = 1024    // bytes of the name of a tool
	MaxReply  = 4 << 20 // bytes of a streamed reply (text, thinking and arguments); models write far less
	maxTokens = 1 << 40 // of any count
)

// Stream has what the streams of all protocols share: where deltas go, when the first
// came, and how much came. The zero value is for replies that are not streamed.
type Stream struct {
	Deltas  func(model.Delta) // nil = no streaming
	Started time.Time

	first time.Duration
	size  int
}

// Grow counts bytes of a reply and returns an error beyond MaxReply. The transport's
// limit includes framing, which is many times the content.
func (s *Stream) Grow(bytes int) error {
	if s.size += bytes; s.size > MaxReply {
		return Bad("the reply is longer than %d bytes", MaxReply)
	}
	return nil
}

// Arrived records the arrival of the first part.
func (s *Stream) Arrived() {
	if s.first == 0 {
		s.first = max(time.Since(s.Started), 1)
	}
}

// Show passes a delta on.
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

// AddCall appends a tool call to those of a reply. It ignores empty calls, which some
// servers send; missing arguments become an empty object.
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

// Finish completes a reply for the engine: valid UTF-8, call ids, and estimated token
// counts if the server sent none.
func Finish(req *model.Request, out *model.Reply) {
	out.Text = strings.ToValidUTF8(out.Text, "\uFFFD")
	req.Identify(out.Calls)
	if out.Usage.Total() == 0 {
		out.Estimated = true
		out.Usage.Input = req.Estimate()
		out.Usage.Output = out.Estimate()
	}
}

// Count is a token count of a reply. It is negative, and thus implausible, if the server
// sent something else than an integer.
type Count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		n = -1
	}
	*c = Count(n)
	return nil
}

// Plausible reports whether token counts can be correct. Others count as missing.
func Plausible[N ~int | ~int64](counts ...N) bool {
	for _, n := range counts {
		if n < 0 || int64(n) > maxTokens {
			return false
		}
	}
	return true
}

// usageMissing reports whether a server did not count the tokens of a reply. Those that
// refuse or block one often count nothing.
func usageMissing(r *model.Reply) bool {
	return r.Estimated && (r.Stop == model.EndTurn || r.Stop == model.ToolUse || r.Stop == model.MaxTokens || r.Stop == model.StopSequence)
}

// minTruncatedTokens is the estimate below which a prompt is not compared with the
// server's count.
const minTruncatedTokens = 1000

// truncatedInput returns the estimated tokens of a request's messages if the server
// counted less than half of them, as a server does that silently truncates the prompt;
// else 0. It ignores tool definitions, which servers render compactly, and repeated
// characters and white space, which form long tokens.
func truncatedInput(req *model.Request, r *model.Reply) int {
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
	if r.Estimated || n < minTruncatedTokens || 2*r.Usage.Input >= n {
		return 0
	}
	return n
}
