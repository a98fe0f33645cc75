package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// UserMessage is a message that a user sent to the run while it ran.
type UserMessage struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	By   *Actor    `json:"by,omitempty"` // who sent it; nil = unknown
	At   time.Time `json:"at,omitzero"`  // wall time at which it was stored; zero = unknown
	Seen bool      `json:"seen"`         // a model was sent it

	Interrupt bool `json:"interrupt,omitempty"` // it ended the model calls under way
}

// Limits of a user's message.
const (
	MaxMessageText = 32 << 10 // bytes
	MaxMessageID   = 128      // bytes
)

// CheckUserMessage returns why a run cannot accept a message, or nil.
func CheckUserMessage(id, text string) error {
	switch {
	case id == "":
		return fmt.Errorf("the message has no id")
	case len(id) > MaxMessageID:
		return fmt.Errorf("the id of the message is too long: %d bytes, the limit is %d", len(id), MaxMessageID)
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("the message has no text")
	case len(text) > MaxMessageText:
		return fmt.Errorf("the message is too long: %d bytes, the limit is %d", len(text), MaxMessageText)
	case !utf8.ValidString(id) || !utf8.ValidString(text):
		return fmt.Errorf("the message is not valid UTF-8")
	}
	return nil
}

// markSeen marks the first messages as seen.
func (s *State) markSeen(f MessagesSeen) {
	if f.Reviewed {
		s.ReviewedMessages = max(s.ReviewedMessages, f.Count)
	}
	if f.Count <= s.SeenMessages {
		return
	}
	s.SeenMessages = f.Count
	s.UserMessages = slices.Clone(s.UserMessages)
	for i := range s.UserMessages {
		s.UserMessages[i].Seen = i < f.Count
	}
}
