package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// gather puts a reply together from the chunks of a stream.
type gather struct {
	modelhttp.Stream
	seen    bool // a chunk came
	draft   draft
	text    strings.Builder
	refusal strings.Builder
	calls   []*partial
	byIndex map[int64]*partial
}

// partial is a tool call of which more may come.
type partial struct {
	id, name string
	args     strings.Builder
}

// add takes one chunk. Only the first choice counts: no more was asked for.
func (g *gather) add(c sdk.ChatCompletionChunk) error {
	g.seen = true
	if g.draft.id == "" {
		g.draft.id = c.ID
	}
	if g.draft.model == "" {
		g.draft.model = c.Model
	}
	if c.JSON.Usage.Valid() {
		g.draft.usage = tokens(c.Usage)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.FinishReason != "" {
			g.draft.finish = choice.FinishReason
			g.draft.stopped = stoppedAt(choice.JSON.ExtraFields)
		}
		if err := g.delta(choice.Delta); err != nil {
			return err
		}
	}
	return nil
}

func (g *gather) delta(d sdk.ChatCompletionChunkChoiceDelta) error {
	text, thinking, err := content(d.Content, d.JSON.Content)
	if err != nil {
		return err
	}
	if err := g.Grow(len(text) + len(d.Refusal)); err != nil {
		return err
	}
	g.text.WriteString(text)
	g.refusal.WriteString(d.Refusal)
	for _, call := range d.ToolCalls {
		if err := g.call(call); err != nil {
			return err
		}
	}
	out := model.Delta{Text: text, Reasoning: cmp.Or(thinking, reasoning(d))}
	if len(d.ToolCalls) > 0 {
		g.Arrived()
	}
	g.Show(out)
	return nil
}

// call adds a piece to the tool call that it belongs to.
func (g *gather) call(d sdk.ChatCompletionChunkChoiceDeltaToolCall) error {
	p := g.find(d)
	if p == nil {
		if len(g.calls) == modelhttp.MaxCalls {
			return modelhttp.Bad("more than %d tool calls in one reply", modelhttp.MaxCalls)
		}
		p = &partial{}
		g.calls = append(g.calls, p)
	}
	if d.JSON.Index.Valid() {
		if g.byIndex == nil {
			g.byIndex = map[int64]*partial{}
		}
		g.byIndex[d.Index] = p
	}
	if p.id == "" {
		p.id = d.ID
	}
	// Names come whole, or whole again with each piece, or in pieces.
	if d.Function.Name != p.name {
		p.name += d.Function.Name
	}
	if len(p.name) > modelhttp.MaxName {
		return modelhttp.Bad("the name of a tool call is longer than %d bytes", modelhttp.MaxName)
	}
	p.args.WriteString(d.Function.Arguments)
	return g.Grow(len(d.Function.Arguments))
}

// find gives the call that a piece continues, nil for a new one. The index
// says so, unless a new id shows that the server does not count; without index
// the id does; without both, a piece with a name begins a call when the one
// before it has arguments.
func (g *gather) find(d sdk.ChatCompletionChunkChoiceDeltaToolCall) *partial {
	if d.JSON.Index.Valid() {
		p := g.byIndex[d.Index]
		if p != nil && d.ID != "" && p.id != "" && p.id != d.ID && d.Function.Name != "" {
			return nil
		}
		return p
	}
	if d.ID != "" {
		for _, p := range g.calls {
			if p.id == d.ID {
				return p
			}
		}
		return nil
	}
	if len(g.calls) == 0 {
		return nil
	}
	last := g.calls[len(g.calls)-1]
	args := last.args.String()
	if d.Function.Name != "" && strings.HasSuffix(strings.TrimSpace(args), "}") && json.Valid([]byte(args)) {
		return nil
	}
	return last
}

// reply is what came, once the stream has ended. A stream that ends without
// saying why the model stopped was cut.
func (g *gather) reply() (*model.Reply, error) {
	if g.draft.finish == "" {
		return nil, &model.Error{Kind: model.Truncated, Message: "the stream ended before the reply did: no finish_reason came"}
	}
	g.draft.text, g.draft.refusal = g.text.String(), g.refusal.String()
	for _, p := range g.calls {
		g.draft.calls = append(g.draft.calls, model.ToolCall{ID: p.id, Name: p.name, Args: json.RawMessage(p.args.String())})
	}
	return g.Ended(g.draft.reply())
}

// reasoning reads the fields in which servers stream a model's thinking.
func reasoning(d sdk.ChatCompletionChunkChoiceDelta) string {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var s string
		if f, ok := d.JSON.ExtraFields[name]; ok && json.Unmarshal([]byte(f.Raw()), &s) == nil && s != "" {
			return s
		}
	}
	return ""
}
