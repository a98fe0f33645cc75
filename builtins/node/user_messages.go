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

// hearing is how many of the user's messages a conversation contains.
type hearing int

// news returns the messages that arrived since, and counts them as part of the
// conversation.
func (h *hearing) news(s engine.Scope) []engine.UserMessage {
	v := s.View()
	news := v.State.UserMessages[min(int(*h), len(v.State.UserMessages)):]
	*h += hearing(len(news))
	return news
}

// behind reports whether a message arrived since.
func (h hearing) behind(s engine.Scope) bool {
	v := s.View()
	return len(v.State.UserMessages) > int(h)
}

// sent records that a model was sent the conversation.
func (h hearing) sent(s engine.Scope, reviewed bool) {
	if h > 0 {
		s.Record(engine.MessagesSeen{Count: int(h), Reviewed: reviewed})
	}
}

// extend adds the messages that arrived since to the last message of a conversation, which
// is the user's and has not been sent.
func (h *hearing) extend(s engine.Scope, messages []model.Message) []model.Message {
	news := h.news(s)
	if len(news) == 0 {
		return messages
	}
	messages = slices.Clone(messages)
	last := &messages[len(messages)-1]
	last.Text = appendMessages(last.Text, news)
	return messages
}

// newsMessage returns messages as a message of their own, after tool results.
func newsMessage(news []engine.UserMessage) model.Message {
	return model.Message{Role: model.User, Text: model.Text{userMessagesIntro, listMessages(news), "\n"}}
}

// isNewsMessage reports whether a message is a newsMessage.
func isNewsMessage(m model.Message) bool {
	return m.Role == model.User && len(m.Text) > 0 && m.Text[0] == userMessagesIntro
}

// withNews appends the newsMessages of turns to the text of a step.
func withNews(text model.Text, turns [][]model.Message) model.Text {
	for _, turn := range turns {
		for _, m := range turn {
			if isNewsMessage(m) {
				text = append(append(slices.Clip(text), "\n"), m.Text...)
			}
		}
	}
	return text
}

// reconsider is the request for another answer after a message arrived.
const reconsider = "The user sent a message before your reply arrived. Take it into account and reply again in the same format."
