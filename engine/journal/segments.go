package journal

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Message is a message of a model request: its text in the segments it was composed of,
// and everything else as compact JSON.
type Message struct {
	Head json.RawMessage
	Text []string
}

// Field is a named part of a request other than a message, as compact JSON.
type Field struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// Request is a model request: its messages and its other fields, in order.
type Request struct {
	Messages []Message
	Fields   []Field
}

// inline is the maximum length of a field written without a reference.
const inline = 32

// Segments encodes the requests of one run so that the journal grows only with new text.
// Each text is stored once, and later requests refer to it. Adjacent segments, messages
// or fields that were adjacent before share one reference, so a list or conversation that
// grows by one costs the same each time. (One reference per item would be quadratic.)
//
// References depend on all requests before them in journal order, so a replay must pass
// recorded requests to AddRecorded. The zero value is ready for use. It belongs to one
// run and is not safe for concurrent use.
type Segments struct {
	texts      table[string]
	messages   table[[sha256.Size]byte] // by a hash of head and texts
	fields     table[[sha256.Size]byte] // by a hash of name and JSON
	text       []string
	message    []message
	field      []Field
	textSeq    sequence // texts of the messages, in order
	messageSeq sequence // messages of the requests, in order
	fieldSeq   sequence // fields of the requests, in order
	recorded   [][]byte
	packing    *requestWriter // nil unless a request is being encoded or decoded
}

// message is a Message whose text is assembled on demand.
type message struct {
	Message
	from, to int // range of its texts in textSeq
}

// Encode returns a request as the body of its intent.
func (s *Segments) Encode(q Request) ([]byte, error) {
	p := s.takeWriter()
	defer s.releaseWriter()
	if err := s.readRecorded(); err != nil {
		return nil, err
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
	return s.assemble(), nil
}

func (s *Segments) textID(t string) int {
	if id, ok := s.texts[t]; ok {
		return id
	}
	t = jsonvalue.ValidString(t)
	id, fresh := s.texts.id(t)
	if fresh {
		s.packing.text(id, t)
		s.text = append(s.text, t)
	}
	return id
}

func (s *Segments) messageID(m Message) int {
	p := s.packing
	p.ids = p.ids[:0]
	for _, t := range m.Text {
		p.ids = append(p.ids, int32(s.textID(t)))
	}
	id, fresh := s.messages.id(p.messageKey(m.Head, p.ids))
	if fresh {
		from := len(s.textSeq.items)
		p.message(id, m.Head, &s.textSeq)
		s.message = append(s.message, message{Message{Head: m.Head}, from, len(s.textSeq.items)})
	}
	return id
}

func (s *Segments) fieldID(f Field) int {
	id, fresh := s.fields.id(s.packing.fieldKey(f))
	if fresh {
		s.addField(id, f)
		s.field = append(s.field, f)
	}
	return id
}

// addField writes a field at its first use, a long one as a reference to a text, which
// may be in the file already.
func (s *Segments) addField(id int, f Field) {
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

// plainString returns the string that JSON encodes, if quote would encode it the same
// way.
func plainString(b []byte) (string, bool) {
	var t string
	if b[0] != '"' || json.Unmarshal(b, &t) != nil {
		return "", false
	}
	return t, string(jsonvalue.AppendString(nil, t)) == string(b)
}

// table numbers keys from 1, in the order of first use.
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
