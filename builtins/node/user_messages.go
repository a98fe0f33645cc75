package node

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// A user may send messages to a run while it executes. Each conversation with a model
// receives each of them once: those that arrived before it in its first prompt, later ones
// before the next call.

const userMessagesName = "parameters.user_messages"

// listMessages returns messages as a list.
func listMessages(messages []engine.UserMessage) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(m.Text), "\n", "\n  "))
	}
	return b.String()
}

// withMessages appends the user's messages to a user prompt whose template does not
// include them.
func (x *values) withMessages(text model.Text, template component.PromptRef) model.Text {
	messages := x.v.State.UserMessages
	if len(messages) == 0 || x.uses(template, userMessagesName) {
		return text
	}
	return appendMessages(text, messages)
}

// appendMessages appends messages to a user prompt.
func appendMessages(text model.Text, messages []engine.UserMessage) model.Text {
	if len(messages) == 0 {
		return text
	}
	gap := "\n\n"
	if n := len(text); n > 0 && strings.HasSuffix(text[n-1], "\n") {
		gap = "\n"
	}
	return append(slices.Clip(text), gap, userMessagesIntro, listMessages(messages), "\n")
}

// delivered is how many of the user's messages a conversation contains.
type delivered int

// next returns the messages that arrived since, and counts them as part of the
// conversation.
func (n *delivered) next(s engine.Scope) []engine.UserMessage {
	v := s.View()
	added := v.State.UserMessages[min(int(*n), len(v.State.UserMessages)):]
	*n += delivered(len(added))
	return added
}

// lacks reports whether a message arrived since.
func (n delivered) lacks(s engine.Scope) bool {
	v := s.View()
	return len(v.State.UserMessages) > int(n)
}

// markSeen records that a model was sent the conversation. reviewed reports that it was the
// planner's or reflector's.
func (n delivered) markSeen(s engine.Scope, reviewed bool) {
	if n > 0 {
		s.Record(engine.MessagesSeen{Count: int(n), Reviewed: reviewed})
	}
}

// extend adds the messages that arrived since to the last message of a conversation, which
// is the user's and has not been sent.
func (n *delivered) extend(s engine.Scope, messages []model.Message) []model.Message {
	added := n.next(s)
	if len(added) == 0 {
		return messages
	}
	messages = slices.Clone(messages)
	last := &messages[len(messages)-1]
	last.Text = appendMessages(last.Text, added)
	return messages
}

// isInterrupted reports whether a message of the user ended a model call. The conversation is
// then sent again with the message.
func isInterrupted(err error) bool {
	me := model.AsError(err)
	return me != nil && me.Kind == model.Interrupted
}

// turnMessage returns messages that arrived during a step as a message after its tool
// results.
func turnMessage(added []engine.UserMessage) model.Message {
	return model.Message{Role: model.User, Text: model.Text{userMessagesIntro, listMessages(added), "\n"}}
}

func isTurnMessage(m model.Message) bool {
	return m.Role == model.User && len(m.Text) > 0 && m.Text[0] == userMessagesIntro
}

// withTurnMessages appends the turnMessages of turns to the text of a step.
func withTurnMessages(text model.Text, turns [][]model.Message) model.Text {
	for _, turn := range turns {
		for _, m := range turn {
			if isTurnMessage(m) {
				text = append(append(slices.Clip(text), "\n"), m.Text...)
			}
		}
	}
	return text
}

// reconsider requests another answer after a message arrived.
const reconsider = "The user sent a message before your reply arrived. Take it into account and reply again in the same format."
