package openai

import (
	"net/http"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/turn"
)

// chunks writes the chunks of a completion.
type chunks struct {
	*completion
	yield func(feed.Item) bool
	ok    bool // the client can receive more
}

// stream responds with the chunks of the completion, as follow reports changes.
func (o *completion) stream(w http.ResponseWriter, r *http.Request, s access.Stream, follow func(func(*turn.Turn, turn.Change) bool) (*turn.Turn, error)) error {
	items := func(yield func(feed.Item) bool) {
		c := &chunks{o, yield, true}
		first := c.object("", choice{Delta: &chatMessage{Role: "assistant", Content: new(string)}})
		if o.run != "" {
			first.Pex = &extension{RunID: o.run}
		}
		c.chunk(first)
		t, err := follow(func(t *turn.Turn, change turn.Change) bool {
			if line := o.add(t, change); line != "" {
				c.progress(line)
			}
			return c.ok
		})
		if err == nil && t != nil {
			c.end(t)
		}
	}
	_ = feed.Write(w, r, items, feed.DataStream, feed.OnFailure(s.Release)) // the client is gone; the run continues
	return nil
}

func (c *chunks) send(body any) {
	c.ok = c.ok && c.yield(feed.Item{Data: jsonvalue.Encode(body)})
}

func (c *chunks) chunk(o chatObject) {
	o.Object = "chat.completion.chunk"
	c.send(o)
}

// progress sends a line of progress.
func (c *chunks) progress(line string) {
	delta := &chatMessage{Reasoning: line}
	if c.completion.progress == Text {
		delta = &chatMessage{Content: &line}
	}
	c.chunk(c.object("", choice{Delta: delta}))
}

// end sends the answer line by line, why it ends, and the usage if the client wants it.
func (c *chunks) end(t *turn.Turn) {
	if failed := runError(t); failed != nil {
		c.send(failed.body())
	} else {
		text := c.content(t)
		if c.completion.progress == Text && c.reasoning.Len() > 0 {
			text = "\n" + text
		}
		for line := range strings.SplitAfterSeq(text, "\n") {
			c.chunk(c.object("", choice{Delta: &chatMessage{Content: &line}}))
		}
		finish := finishReason(t)
		last := c.object("", choice{Delta: &chatMessage{}, Finish: &finish})
		if c.run != "" {
			last.Pex = extend(t)
		}
		c.chunk(last)
		if c.request.StreamOptions.IncludeUsage {
			u := c.object("")
			u.Usage = usageOf(t)
			c.chunk(u)
		}
	}
	c.ok = c.ok && c.yield(feed.Item{Data: []byte("[DONE]")})
}
