package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// AddRecorded adds the body of a recorded intent, which later requests may refer to. It
// is decoded only when needed.
func (s *Segments) AddRecorded(body []byte) { s.recorded = append(s.recorded, body) }

// Decode decodes the body of the next recorded intent to the whole request, and adds it
// as AddRecorded does.
func (s *Segments) Decode(body []byte) (Request, error) {
	s.takeWriter()
	defer s.releaseWriter()
	if err := s.readRecorded(); err != nil {
		return Request{}, err
	}
	q, err := s.unpack(body)
	if err != nil {
		return Request{}, fmt.Errorf("recorded request: %w", err)
	}
	return q, nil
}

func (s *Segments) readRecorded() error {
	kept := s.recorded
	s.recorded = nil
	for _, body := range kept {
		if _, err := s.unpack(body); err != nil {
			return fmt.Errorf("recorded request: %w", err)
		}
	}
	return nil
}

func (s *Segments) unpack(body []byte) (q Request, err error) {
	var p packedRequest
	if err := json.Unmarshal(body, &p); err != nil {
		return q, err
	}
	for _, id := range slices.Sorted(maps.Keys(p.New)) {
		if got, fresh := s.texts.id(p.New[id]); got != id || !fresh {
			return q, fmt.Errorf("text %d: %w", id, errReference)
		}
		s.text = append(s.text, p.New[id])
	}
	for _, id := range slices.Sorted(maps.Keys(p.Defs)) {
		if err := s.addMessage(id, p.Defs[id]); err != nil {
			return q, fmt.Errorf("message %d: %w", id, err)
		}
	}
	ids, err := s.messageSeq.unpack(p.Messages, len(s.message))
	if err != nil {
		return q, err
	}
	for _, id := range ids {
		q.Messages = append(q.Messages, s.fullMessage(id))
	}
	q.Fields, err = s.unpackFields(&p)
	return q, err
}

func (s *Segments) unpackFields(p *packedRequest) (out []Field, err error) {
	for _, id := range slices.Sorted(maps.Keys(p.Sets)) {
		f, err := s.resolve(p.Sets[id])
		if err != nil {
			return nil, err
		}
		if got, fresh := s.fields.id(s.packing.fieldKey(f)); got != id || !fresh {
			return nil, fmt.Errorf("field %d: %w", id, errReference)
		}
		s.field = append(s.field, f)
	}
	ids, err := s.fieldSeq.unpack(p.With, len(s.field))
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		out = append(out, s.field[id-1])
	}
	for _, pf := range p.Fields {
		f, err := s.resolve(pf)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// resolve returns a field with its JSON.
func (s *Segments) resolve(f packedField) (Field, error) {
	id := max(f.Text, f.String)
	if min(f.Text, f.String) < 0 || id > len(s.text) {
		return Field{}, fmt.Errorf("field %s: %w", f.Name, errReference)
	}
	switch {
	case f.Text > 0:
		f.JSON = json.RawMessage(s.text[id-1])
	case f.String > 0:
		f.JSON = jsonvalue.AppendString(nil, s.text[id-1])
	}
	return Field{f.Name, f.JSON}, nil
}

func (s *Segments) addMessage(id int, def packedMessage) error {
	from := len(s.textSeq.items)
	ids, err := s.textSeq.unpack(def.Text, len(s.text))
	if err != nil {
		return err
	}
	if got, fresh := s.messages.id(s.packing.messageKey(def.Head, ids)); got != id || !fresh {
		return errReference
	}
	s.message = append(s.message, message{Message{Head: def.Head}, from, len(s.textSeq.items)})
	return nil
}

// fullMessage returns a message with its text.
func (s *Segments) fullMessage(id int32) Message {
	m := &s.message[id-1]
	if m.Text == nil {
		for _, text := range s.textSeq.items[m.from:m.to] {
			m.Text = append(m.Text, s.text[text-1])
		}
	}
	return m.Message
}
