package journal

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Message is one message of a model request: its text in the segments it was
// made of, and everything else as compact JSON.
type Message struct {
	Head json.RawMessage
	Text []string
}

// Field is a named part of a request that is not a message, as compact JSON.
type Field struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// Request is a model request: its messages and its other fields, in order.
type Request struct {
	Messages []Message
	Fields   []Field
}

// inline is the length up to which a field is written where it stands.
const inline = 32

// Segments writes the requests of one run so that a journal grows with what is
// new: each text stands once, and what a request shares with earlier ones is
// referenced. Segments or messages that stood side by side before are one
// reference, however many they are; so a list or a conversation that grows by
// one costs the same each time. (A reference to each would be quadratic.)
//
// References count on all requests before them, in journal order: a re-run
// passes what it finds recorded to Keep. The zero value is ready; it belongs
// to one run and is not safe for concurrent use.
type Segments struct {
	texts    table
	messages table // by a hash of head and texts
	text     []string
	message  []Message
	segs     sequence // texts, as messages were made of them
	turns    sequence // messages, as requests were made of them
	kept     [][]byte
}

// packed is a request as the journal holds it; ids count from 1.
type packed struct {
	New      map[int]string        `json:"new,omitempty"`  // texts at their first use
	Defs     map[int]packedMessage `json:"defs,omitempty"` // messages at their first use
	Messages []reference           `json:"messages"`       // to messages
	Fields   []packedField         `json:"fields,omitempty"`
}

type packedMessage struct {
	Head json.RawMessage `json:"head,omitempty"`
	Text []reference     `json:"text"` // to texts
}

type packedField struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json,omitempty"`
	Text int             `json:"text,omitempty"` // or the text that it is
}

// Encode is a request as the body of its intent.
func (s *Segments) Encode(q Request) ([]byte, error) {
	if err := s.catchUp(); err != nil {
		return nil, err
	}
	p := packed{New: map[int]string{}, Defs: map[int]packedMessage{}}
	for _, f := range q.Fields {
		one := packedField{Name: f.Name}
		if len(f.JSON) <= inline {
			one.JSON = f.JSON
		} else {
			one.Text = s.textID(&p, string(f.JSON))
		}
		p.Fields = append(p.Fields, one)
	}
	ids := make([]int32, len(q.Messages))
	for i, m := range q.Messages {
		ids[i] = s.messageID(&p, m)
	}
	p.Messages = s.turns.pack(ids)
	b, err := Encode(p)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return b, nil
}

func (s *Segments) textID(p *packed, t string) int {
	t = valid(t)
	id, fresh := s.texts.id(t)
	if fresh {
		p.New[id] = t
		s.text = append(s.text, t)
	}
	return id
}

func (s *Segments) messageID(p *packed, m Message) int32 {
	ids := make([]int32, len(m.Text))
	for i, t := range m.Text {
		ids[i] = int32(s.textID(p, t))
	}
	id, fresh := s.messages.id(messageKey(m.Head, ids))
	if fresh {
		p.Defs[id] = packedMessage{m.Head, s.segs.pack(ids)}
		s.message = append(s.message, m)
	}
	return int32(id)
}

func messageKey(head []byte, ids []int32) string {
	key := append(make([]byte, 0, len(head)+4*len(ids)), head...)
	for _, id := range ids {
		key = append(key, byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
	}
	sum := sha256.Sum256(key)
	return string(sum[:])
}

// table numbers strings from 1 in the order of their first use.
type table map[string]int

func (t *table) id(s string) (id int, fresh bool) {
	if *t == nil {
		*t = table{}
	}
	id, ok := (*t)[s]
	if !ok {
		id = len(*t) + 1
		(*t)[s] = id
	}
	return id, !ok
}
