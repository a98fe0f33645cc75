package modelhttp

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pexctl/pex/engine/model"
)

// Limits of a reply.
const (
	MaxCalls  = 128     // tool calls
	MaxName   = 1024    // bytes of a tool's name
	MaxReply  = 4 << 20 // bytes of a streamed reply (text, thinking and arguments); models write far less
	maxTokens = 1 << 40 // of any token count
)

// Stream is the state that streams of all protocols share: where deltas go, when the first part arrived, and the size
// of the reply. The zero value is for replies that are not streamed.
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
		return Bad("the reply exceeds %d bytes", MaxReply)
	}
	return nil
}

// RecordFirst records the arrival of the first part; later calls have no effect.
func (s *Stream) RecordFirst() {
	if s.first == 0 {
		s.first = max(time.Since(s.Started), 1)
	}
}

// Emit passes a non-empty delta on.
func (s *Stream) Emit(d model.Delta) {
	if d != (model.Delta{}) && s.Deltas != nil {
		s.RecordFirst()
		s.Deltas(d)
	}
}

// Complete adds the time of the first part to a streamed reply.
func (s *Stream) Complete(out *model.Reply, err error) (*model.Reply, error) {
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

// Finish completes a reply for the engine: it makes the text valid UTF-8, sets missing call ids, and estimates token
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

// usageMissing reports whether the server did not count the tokens of a complete reply. Servers often omit the counts
// when they refuse or block one.
func usageMissing(r *model.Reply) bool {
	return r.Estimated && (r.Stop == model.EndTurn || r.Stop == model.ToolUse || r.Stop == model.MaxTokens || r.Stop == model.StopSequence)
}

// minTruncatedTokens is the estimate below which a prompt is not compared with the
// server's count.
const minTruncatedTokens = 1000

// truncatedInput returns the estimated tokens of a request's messages if the server counted less than half of them, and
// 0 otherwise. Such a server has silently truncated the prompt. The estimate ignores tool definitions, which servers
// render compactly, and repeated characters and white space, which form long tokens.
func truncatedInput(req *model.Request, r *model.Reply) int {
	n := 0
	for _, m := range req.Messages {
		var last rune // across segments: the count does not depend on them
		for _, text := range m.Text {
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
