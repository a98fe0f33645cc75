package bedrock

import (
	"encoding/json"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// convert converts a complete reply. Its blocks may be in any order.
func convert(w *writer, out *bedrockruntime.ConverseOutput) (*model.Reply, error) {
	message, ok := out.Output.(*types.ConverseOutputMemberMessage)
	if !ok {
		return nil, modelhttp.Bad("the server's reply has no message")
	}
	d := rawReply{request: w, id: requestID(out.ResultMetadata), model: w.id, stop: out.StopReason, usage: out.Usage}
	if t := out.Trace; t != nil {
		d.setRoutedModel(t.PromptRouter)
	}
	// For an unknown block type, the SDK returns the previous block again.
	for _, b := range slices.Compact(message.Value.Content) {
		if err := d.block(b); err != nil {
			return nil, err
		}
	}
	return d.reply()
}

// setRoutedModel sets the model that a prompt router chose.
func (d *rawReply) setRoutedModel(t *types.PromptRouterTrace) {
	if t != nil && t.InvokedModelId != nil {
		d.model = *t.InvokedModelId
	}
}

func (d *rawReply) block(b types.ContentBlock) error {
	switch b := b.(type) {
	case *types.ContentBlockMemberText:
		d.text.WriteString(b.Value)
	case *types.ContentBlockMemberCitationsContent:
		for _, c := range slices.Compact(b.Value.Content) {
			if text, ok := c.(*types.CitationGeneratedContentMemberText); ok {
				d.text.WriteString(text.Value)
			}
		}
	case *types.ContentBlockMemberReasoningContent:
		d.thoughts = append(d.thoughts, thoughtOf(b.Value))
	case *types.ContentBlockMemberToolUse:
		if b.Value.Type == types.ToolUseTypeServerToolUse {
			return nil // called by the server itself
		}
		args, err := arguments(b.Value.Input)
		if err != nil {
			return err
		}
		return d.call(deref(b.Value.ToolUseId), deref(b.Value.Name), args)
	}
	return nil // media, which was not requested
}

func thoughtOf(b types.ReasoningContentBlock) thought {
	switch b := b.(type) {
	case *types.ReasoningContentBlockMemberReasoningText:
		return thought{Text: deref(b.Value.Text), Signature: deref(b.Value.Signature)}
	case *types.ReasoningContentBlockMemberRedactedContent:
		return thought{Redacted: b.Value}
	}
	return thought{}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// arguments returns a call's arguments as JSON. The SDK has decoded them: numbers are preserved, but the order of keys
// is lost.
func arguments(v document.Interface) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	written, err := v.MarshalSmithyDocument()
	if err != nil {
		return nil, modelhttp.Bad("the arguments of a tool call cannot be read: %s", err)
	}
	var decoded any
	if err := jsonvalue.Unmarshal(written, &decoded); err != nil {
		return nil, modelhttp.Bad("the arguments of a tool call cannot be read: %s", err)
	}
	return jsonvalue.Marshal(decoded)
}
