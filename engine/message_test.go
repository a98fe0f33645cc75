package engine_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
)

func TestMessagesAreChecked(t *testing.T) {
	for _, c := range []struct{ id, text, want string }{
		{"m-1", "Use the 2025 figures.", ""},
		{strings.Repeat("m", engine.MaxMessageID), strings.Repeat("x", engine.MaxMessageText), ""},
		{"", "x", "the message has no id"},
		{strings.Repeat("m", engine.MaxMessageID+1), "x", "the id of the message is too long: 129 bytes, the limit is 128"},
		{"m-1", " \n", "the message has no text"},
		{"m-1", strings.Repeat("x", engine.MaxMessageText+1), "the message is too long: 32769 bytes, the limit is 32768"},
		{"m-1", "\xff", "the message is not valid UTF-8"},
	} {
		got := ""
		if err := engine.CheckUserMessage(c.id, c.text); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%.20q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestMessagesAreMarkedAsSeenInOrder(t *testing.T) {
	var before engine.State
	for _, id := range []string{"a", "b", "c"} {
		before.Add(engine.MessageReceived{Message: engine.UserMessage{ID: id}})
	}
	after := before.Apply(engine.MessagesSeen{Count: 2, Reviewed: true}).Apply(engine.MessagesSeen{Count: 1})
	seen := ""
	for _, m := range after.UserMessages {
		if m.Seen {
			seen += m.ID
		}
	}
	if seen != "ab" || after.SeenMessages != 2 || after.ReviewedMessages != 2 || before.UserMessages[0].Seen {
		t.Errorf("%+v, before %+v", after.UserMessages, before.UserMessages)
	}
}
