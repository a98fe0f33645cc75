package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Keep takes over the body of a recorded intent, for the references of later
// requests. It is read only when one is encoded or decoded.
func (s *Segments) Keep(body []byte) { s.kept = append(s.kept, body) }

// Decode gives back the whole request in the body of the next recorded intent,
// and keeps it as Keep does.
func (s *Segments) Decode(body []byte) (Request, error) {
	if err := s.catchUp(); err != nil {
		return Request{}, err
	}
	q, err := s.unpack(body)
	if err != nil {
		return Request{}, fmt.Errorf("recorded request: %w", err)
	}
	return q, nil
}

func (s *Segments) catchUp() error {
	kept := s.kept
	s.kept = nil
	for _, body := range kept {
		if _, err := s.unpack(body); err != nil {
			return fmt.Errorf("recorded request: %w", err)
		}
	}
	return nil
}

func (s *Segments) unpack(body []byte) (q Request, err error) {
	var p packed
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
		if err := s.redefine(id, p.Defs[id]); err != nil {
			return q, fmt.Errorf("message %d: %w", id, err)
		}
	}
	ids, err := s.turns.unpack(p.Messages, len(s.message))
	if err != nil {
		return q, err
	}
	for _, id := range ids {
		q.Messages = append(q.Messages, s.message[id-1])
	}
	for _, f := range p.Fields {
		if f.Text < 0 || f.Text > len(s.text) {
			return q, fmt.Errorf("field %s: %w", f.Name, errReference)
		}
		if f.Text > 0 {
			f.JSON = json.RawMessage(s.text[f.Text-1])
		}
		q.Fields = append(q.Fields, Field{f.Name, f.JSON})
	}
	return q, nil
}

func (s *Segments) redefine(id int, def packedMessage) error {
	ids, err := s.segs.unpack(def.Text, len(s.text))
	if err != nil {
		return err
	}
	if got, fresh := s.messages.id(messageKey(def.Head, ids)); got != id || !fresh {
		return errReference
	}
	m := Message{Head: def.Head}
	for _, id := range ids {
		m.Text = append(m.Text, s.text[id-1])
	}
	s.message = append(s.message, m)
	return nil
}
