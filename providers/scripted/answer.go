package scripted

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/model"
)

// deltaCount is the number of deltas of a streamed text.
const deltaCount = 4

// answer is the stateless result of one call.
type answer struct {
	model    *chatModel
	reply    *reply
	fault    *model.Error
	attempts int
	delay    time.Duration
}

var (
	_ model.Model   = (*answer)(nil)
	_ model.Delayed = (*answer)(nil)
)

// Delay implements model.Delayed: the duration including retries.
func (a *answer) Delay() time.Duration { return a.delay }

// Generate implements model.Model. The engine waits for the delay.
func (a *answer) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.fault != nil {
		e := *a.fault
		e.Attempts = a.attempts
		return nil, &e
	}
	out := &model.Reply{Text: a.reply.text, Stop: a.reply.stop, Model: a.model.name, Latency: a.delay}
	if a.attempts > 1 {
		out.Attempts = a.attempts
	}
	out.Calls = assignIDs(a.reply.calls, req)
	if a.reply.usage != nil {
		out.Usage = *a.reply.usage
	} else {
		out.Usage, out.Estimated = model.Tokens{Input: req.Estimate(), Output: out.Estimate()}, true
	}
	if stream != nil {
		send(out.Text, stream)
	}
	return out, nil
}

// assignIDs numbers calls after those of the conversation, whose start may have been
// dropped.
func assignIDs(calls []model.ToolCall, req *model.Request) []model.ToolCall {
	if len(calls) == 0 {
		return nil
	}
	n := 0
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			n++
			if k, err := strconv.Atoi(strings.TrimPrefix(c.ID, "call_")); err == nil {
				n = max(n, k+1)
			}
		}
	}
	out := make([]model.ToolCall, len(calls))
	for i, c := range calls {
		c.ID = "call_" + strconv.Itoa(n+i)
		out[i] = c
	}
	return out
}

// send streams a text in a few deltas without splitting characters.
func send(text string, stream func(model.Delta)) {
	size := max(len(text)/deltaCount, 1)
	for text != "" {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		stream(model.Delta{Text: text[:n]})
		text = text[n:]
	}
}

// prompt returns the text of all messages, one per line, including the arguments of tool
// calls.
func prompt(req *model.Request) string {
	var b strings.Builder
	line := func(parts ...string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	for _, m := range req.Messages {
		for _, f := range m.Attachments {
			line("file ", f.Name, " (", f.MediaType, ")")
		}
		if len(m.Text) > 0 {
			line(m.Text...)
		}
		for _, c := range m.Calls {
			line(string(c.Args))
		}
	}
	return b.String()
}
