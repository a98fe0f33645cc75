package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// gather puts a reply together from the events of a stream.
type gather struct {
	modelhttp.Stream
	draft draft

	parts   []*part
	current map[int32]*part
}

// part is a block of which more may come.
type part struct {
	kind      partKind
	id, name  string
	text      strings.Builder // or arguments
	signature strings.Builder
	redacted  []byte
}

type partKind int

const (
	textPart partKind = iota
	callPart
	thoughtPart
	otherPart
)

// add takes one event.
func (g *gather) add(event types.ConverseStreamOutput) error {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		return g.start(e.Value)
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		return g.delta(e.Value)
	case *types.ConverseStreamOutputMemberContentBlockStop:
		delete(g.current, index(e.Value.ContentBlockIndex))
	case *types.ConverseStreamOutputMemberMessageStop:
		g.draft.stop = e.Value.StopReason
		if g.draft.stop == "" {
			g.draft.stop = types.StopReasonEndTurn
		}
	case *types.ConverseStreamOutputMemberMetadata:
		g.draft.usage = e.Value.Usage
		if t := e.Value.Trace; t != nil {
			g.draft.routed(t.PromptRouter)
		}
	}
	return nil // the start of a message, and events that are new
}

func index(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// start begins a block that says what it is: only calls do.
func (g *gather) start(e types.ContentBlockStartEvent) error {
	use, ok := e.Start.(*types.ContentBlockStartMemberToolUse)
	if !ok {
		return nil
	}
	kind := callPart
	if use.Value.Type == types.ToolUseTypeServerToolUse {
		kind = otherPart // the server calls it itself
	}
	p, err := g.begin(index(e.ContentBlockIndex), kind)
	if err != nil {
		return err
	}
	p.id, p.name = deref(use.Value.ToolUseId), deref(use.Value.Name)
	g.Arrived()
	return nil
}

func (g *gather) begin(i int32, kind partKind) (*part, error) {
	p := &part{kind: kind}
	if len(g.parts) == 4*modelhttp.MaxCalls {
		return nil, modelhttp.Bad("more than %d blocks in one reply", 4*modelhttp.MaxCalls)
	}
	if g.current == nil {
		g.current = map[int32]*part{}
	}
	g.parts, g.current[i] = append(g.parts, p), p
	return p, nil
}

// at is the block that a delta continues. One that does not fit begins another:
// some models count all their blocks as one.
func (g *gather) at(i *int32, kind partKind) (*part, error) {
	if p := g.current[index(i)]; p != nil && (p.kind == kind || p.kind == otherPart) {
		return p, nil
	}
	return g.begin(index(i), kind)
}

func (g *gather) delta(e types.ContentBlockDeltaEvent) error {
	switch d := e.Delta.(type) {
	case *types.ContentBlockDeltaMemberText:
		return g.words(e.ContentBlockIndex, d.Value)
	case *types.ContentBlockDeltaMemberToolUse:
		return g.args(e.ContentBlockIndex, deref(d.Value.Input))
	case *types.ContentBlockDeltaMemberReasoningContent:
		return g.thought(e.ContentBlockIndex, d.Value)
	}
	return nil // citations and media
}

func (g *gather) words(i *int32, s string) error {
	p, err := g.at(i, textPart)
	if err == nil {
		err = g.Grow(len(s))
	}
	if err != nil {
		return err
	}
	p.text.WriteString(s)
	g.Show(model.Delta{Text: s})
	return nil
}

// args continues the arguments of a call, or the reply where that is one.
func (g *gather) args(i *int32, s string) error {
	p, err := g.at(i, callPart)
	if err == nil {
		err = g.Grow(len(s))
	}
	if err != nil {
		return err
	}
	p.text.WriteString(s)
	g.Arrived()
	if p.name != "" && p.name == g.draft.asked.answer {
		g.Show(model.Delta{Text: s})
	}
	return nil
}

func (g *gather) thought(i *int32, d types.ReasoningContentBlockDelta) error {
	p, err := g.at(i, thoughtPart)
	if err != nil {
		return err
	}
	switch d := d.(type) {
	case *types.ReasoningContentBlockDeltaMemberText:
		p.text.WriteString(d.Value)
		g.Show(model.Delta{Reasoning: d.Value})
		return g.Grow(len(d.Value))
	case *types.ReasoningContentBlockDeltaMemberSignature:
		p.signature.WriteString(d.Value)
		return g.Grow(len(d.Value))
	case *types.ReasoningContentBlockDeltaMemberRedactedContent:
		p.redacted = append(p.redacted, d.Value...)
		return g.Grow(len(d.Value))
	}
	return nil
}

// reply is what came, once the stream has ended. A stream that ends without
// saying why the model stopped was cut.
func (g *gather) reply() (*model.Reply, error) {
	if g.draft.stop == "" {
		return nil, &model.Error{Kind: model.Truncated, RequestID: g.draft.id, Message: "the stream ended before the reply did: no messageStop came"}
	}
	for _, p := range g.parts {
		if err := g.put(p); err != nil {
			return nil, err
		}
	}
	return g.Ended(g.draft.reply())
}

func (g *gather) put(p *part) error {
	switch p.kind {
	case textPart:
		g.draft.text.WriteString(p.text.String())
	case callPart:
		return g.draft.call(p.id, p.name, json.RawMessage(p.text.String()))
	case thoughtPart:
		g.draft.thoughts = append(g.draft.thoughts, thought{Text: p.text.String(), Signature: p.signature.String(), Redacted: p.redacted})
	case otherPart:
	}
	return nil
}
