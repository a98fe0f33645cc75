package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// accumulator builds a reply from the events of a stream.
type accumulator struct {
	modelhttp.Stream
	draft rawReply

	blocks  []*partialBlock
	current map[int32]*partialBlock
}

// partialBlock is a block that may continue.
type partialBlock struct {
	kind      blockKind
	id, name  string
	text      strings.Builder // or arguments
	signature strings.Builder
	redacted  []byte
}

type blockKind int

const (
	textBlock blockKind = iota
	callBlock
	thoughtBlock
	otherBlock
)

// add processes one event.
func (g *accumulator) add(event types.ConverseStreamOutput) error {
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
			g.draft.setRoutedModel(t.PromptRouter)
		}
	}
	return nil // the start of a message, and unknown events
}

func index(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// start starts a block of a known kind, which is always a call.
func (g *accumulator) start(e types.ContentBlockStartEvent) error {
	use, ok := e.Start.(*types.ContentBlockStartMemberToolUse)
	if !ok {
		return nil
	}
	kind := callBlock
	if use.Value.Type == types.ToolUseTypeServerToolUse {
		kind = otherBlock // called by the server itself
	}
	p, err := g.begin(index(e.ContentBlockIndex), kind)
	if err != nil {
		return err
	}
	p.id, p.name = deref(use.Value.ToolUseId), deref(use.Value.Name)
	g.RecordFirst()
	return nil
}

func (g *accumulator) begin(i int32, kind blockKind) (*partialBlock, error) {
	p := &partialBlock{kind: kind}
	if len(g.blocks) == 4*modelhttp.MaxCalls {
		return nil, modelhttp.Bad("more than %d blocks in one reply", 4*modelhttp.MaxCalls)
	}
	if g.current == nil {
		g.current = map[int32]*partialBlock{}
	}
	g.blocks, g.current[i] = append(g.blocks, p), p
	return p, nil
}

// at returns the block that a delta continues. A delta of another kind starts a new block: some models give all their
// blocks the same index.
func (g *accumulator) at(i *int32, kind blockKind) (*partialBlock, error) {
	if p := g.current[index(i)]; p != nil && (p.kind == kind || p.kind == otherBlock) {
		return p, nil
	}
	return g.begin(index(i), kind)
}

func (g *accumulator) delta(e types.ContentBlockDeltaEvent) error {
	switch d := e.Delta.(type) {
	case *types.ContentBlockDeltaMemberText:
		return g.addText(e.ContentBlockIndex, d.Value)
	case *types.ContentBlockDeltaMemberToolUse:
		return g.addArguments(e.ContentBlockIndex, deref(d.Value.Input))
	case *types.ContentBlockDeltaMemberReasoningContent:
		return g.addThought(e.ContentBlockIndex, d.Value)
	}
	return nil // citations and media
}

func (g *accumulator) addText(i *int32, s string) error {
	p, err := g.at(i, textBlock)
	if err == nil {
		err = g.Grow(len(s))
	}
	if err != nil {
		return err
	}
	p.text.WriteString(s)
	g.Emit(model.Delta{Text: s})
	return nil
}

// addArguments continues the arguments of a call, and streams them if they are the reply.
func (g *accumulator) addArguments(i *int32, s string) error {
	p, err := g.at(i, callBlock)
	if err == nil {
		err = g.Grow(len(s))
	}
	if err != nil {
		return err
	}
	p.text.WriteString(s)
	g.RecordFirst()
	if p.name != "" && p.name == g.draft.request.answer {
		g.Emit(model.Delta{Text: s})
	}
	return nil
}

func (g *accumulator) addThought(i *int32, d types.ReasoningContentBlockDelta) error {
	p, err := g.at(i, thoughtBlock)
	if err != nil {
		return err
	}
	switch d := d.(type) {
	case *types.ReasoningContentBlockDeltaMemberText:
		p.text.WriteString(d.Value)
		g.Emit(model.Delta{Reasoning: d.Value})
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

// reply returns the reply once the stream has ended. A stream without a stop reason was truncated.
func (g *accumulator) reply() (*model.Reply, error) {
	if g.draft.stop == "" {
		return nil, &model.Error{Kind: model.Truncated, RequestID: g.draft.id, Message: "the stream ended before the reply was complete: no messageStop"}
	}
	for _, p := range g.blocks {
		if err := g.addBlock(p); err != nil {
			return nil, err
		}
	}
	return g.Complete(g.draft.reply())
}

func (g *accumulator) addBlock(p *partialBlock) error {
	switch p.kind {
	case textBlock:
		g.draft.text.WriteString(p.text.String())
	case callBlock:
		return g.draft.call(p.id, p.name, json.RawMessage(p.text.String()))
	case thoughtBlock:
		g.draft.thoughts = append(g.draft.thoughts, thought{Text: p.text.String(), Signature: p.signature.String(), Redacted: p.redacted})
	case otherBlock:
	}
	return nil
}
