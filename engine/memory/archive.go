package memory

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// Archive is a Store whose conversations can be listed and removed.
type Archive interface {
	Store
	// Session returns the session state; an unknown id has an empty one.
	Session(ctx context.Context, memoryID string) (Session, error)
	// List returns the conversations, latest first.
	List(ctx context.Context) ([]Conversation, error)
	// Remove deletes a conversation with its session state. The error wraps
	// fs.ErrNotExist if there is none.
	Remove(ctx context.Context, memoryID string) error
}

// Conversation summarizes a conversation.
type Conversation struct {
	MemoryID     string    `json:"memory_id"`
	Interactions int       `json:"interactions"`
	Notes        int       `json:"notes"`
	Variables    int       `json:"variables"`
	First        time.Time `json:"first"` // of the first interaction, else note
	Last         time.Time `json:"last"`  // of the last one; zero = none has a time
	LastQuestion string    `json:"last_question,omitempty"`
	Bytes        int64     `json:"bytes"` // as stored
}

// Content is all data of a conversation.
type Content struct {
	MemoryID     string        `json:"memory_id"`
	Interactions []Interaction `json:"interactions"`
	Session
}

// IsEmpty reports whether there is no such conversation.
func (c *Content) IsEmpty() bool { return len(c.Interactions)+len(c.Notes)+len(c.Variables) == 0 }

// ReadContent reads a conversation; that of an unknown id is empty.
func ReadContent(ctx context.Context, a Archive, memoryID string) (c Content, err error) {
	c.MemoryID = memoryID
	if c.Interactions, err = a.History(ctx, memoryID); err == nil {
		c.Session, err = a.Session(ctx, memoryID)
	}
	return c, err
}

// ExecutorID returns the default id of the conversation that stores the steps of a
// conversation.
func ExecutorID(memoryID string) string { return memoryID + "/executor" }

// RemoveAll removes a conversation and that of its executor. It removes the latter first,
// so that an interrupted removal can be repeated.
func RemoveAll(ctx context.Context, a Archive, memoryID string) error {
	for _, id := range []string{ExecutorID(memoryID), memoryID} {
		if err := a.Remove(ctx, id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
