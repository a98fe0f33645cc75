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
// referenced. Segments, messages or fields that stood side by side before are
// one reference, however many they are; so a list or a conversation that grows
// by one costs the same each time. (A reference to each would be quadratic.)
//
// References count on all requests before them, in journal order: a re-run
// passes what it finds recorded to Keep. The zero value is ready; it belongs
// to one run and is not safe for concurrent use.
type Segments struct {
	texts    table[string]
	messages table[[sha256.Size]byte] // by a hash of head and texts
	fields   table[string]            // by name and JSON
	text     []string
	message  []message
	field    []Field
	segs     sequence // texts, as messages were made of them
	turns    sequence // messages, as requests were made of them
	with     sequence // fields, as requests were made of them
	kept     [][]byte
	packing  packing
}

// message is a Message whose text is put together when somebody asks for it.
type message struct {
	Message
	from, to int // its texts, in segs
}

// Encode is a request as the body of its intent, as Encode of a value writes it.
func (s *Segments) Encode(q Request) ([]byte, error) {
	if err := s.catchUp(); err != nil {
		return nil, err
	}
	p := &s.packing
	p.reset()
	if p.texts == nil {
		p.texts = make([]byte, 0, room(q))
	}
	for _, f := range q.Fields {
		p.fields = append(p.fields, int32(s.fieldID(f)))
	}
	for _, m := range q.Messages {
		p.messages = append(p.messages, int32(s.messageID(m)))
	}
	if p.err != nil {
		return nil, fmt.Errorf("encode request: %w", p.err)
	}
	return s.packed(), nil
}

// room is about how long the texts of a run's first request are, of which none
// stands in its journal yet.
func room(q Request) int {
	n := 64
	for _, m := range q.Messages {
		for _, t := range m.Text {
			n += len(t) + len(t)/16 + 8
		}
	}
	for _, f := range q.Fields {
		n += len(f.JSON)
	}
	return n
}

func (s *Segments) textID(t string) int {
	if id, ok := s.texts[t]; ok {
		return id
	}
	t = valid(t)
	id, fresh := s.texts.id(t)
	if fresh {
		s.packing.text(id, t)
		s.text = append(s.text, t)
	}
	return id
}

func (s *Segments) messageID(m Message) int {
	p := &s.packing
	p.ids = p.ids[:0]
	for _, t := range m.Text {
		p.ids = append(p.ids, int32(s.textID(t)))
	}
	id, fresh := s.messages.id(p.messageKey(m.Head, p.ids))
	if fresh {
		from := len(s.segs.items)
		p.message(id, m.Head, &s.segs)
		s.message = append(s.message, message{Message{Head: m.Head}, from, len(s.segs.items)})
	}
	return id
}

func (s *Segments) fieldID(f Field) int {
	id, fresh := s.fields.id(fieldKey(f))
	if fresh {
		s.define(id, f)
		s.field = append(s.field, f)
	}
	return id
}

// define writes a field at its first use: a long one by its text, for that may
// stand in the file already.
func (s *Segments) define(id int, f Field) {
	text, ref := 0, "text"
	if len(f.JSON) > inline {
		if t, ok := plainString(f.JSON); ok {
			text, ref = s.textID(t), "string"
		} else {
			text = s.textID(string(f.JSON))
		}
	}
	s.packing.field(id, f, ref, text)
}

// plainString is the string that JSON is, if it is one as we write it.
func plainString(b []byte) (string, bool) {
	var t string
	if b[0] != '"' || json.Unmarshal(b, &t) != nil {
		return "", false
	}
	return t, string(quote(nil, t)) == string(b)
}

func fieldKey(f Field) string { return f.Name + "\x00" + string(f.JSON) }

// table numbers what it is asked for from 1, in the order of first use.
type table[K comparable] map[K]int

func (t *table[K]) id(k K) (id int, fresh bool) {
	if *t == nil {
		*t = table[K]{}
	}
	id, ok := (*t)[k]
	if !ok {
		id = len(*t) + 1
		(*t)[k] = id
	}
	return id, !ok
}
