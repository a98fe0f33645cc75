package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// packedRequest is a request as the journal stores it; ids count from 1.
type packedRequest struct {
	New      map[int]string        `json:"new"`      // texts, at their first use
	Defs     map[int]packedMessage `json:"defs"`     // messages, at their first use
	Sets     map[int]packedField   `json:"sets"`     // fields, at their first use
	Messages []reference           `json:"messages"` // references to messages
	With     []reference           `json:"with"`     // references to fields
	Fields   []packedField         `json:"fields"`   // all fields, in the oldest journals
}

type packedMessage struct {
	Head json.RawMessage `json:"head"`
	Text []reference     `json:"text"` // references to texts
}

type packedField struct {
	Name   string          `json:"name"`
	JSON   json.RawMessage `json:"json"`
	Text   int             `json:"text"`   // id of the text that is the JSON
	String int             `json:"string"` // id of the text whose JSON string it is
}

// requestWriter encodes one request. Its buffers are reused for the next of any run.
type requestWriter struct {
	texts, defs, sets     []byte // members of new, defs and sets
	messages, fields, ids []int32
	key                   []byte
	err                   error
}

var requestWriters = sync.Pool{New: func() any { return &requestWriter{} }}

// takeWriter sets packing to an empty writer.
func (s *Segments) takeWriter() *requestWriter {
	s.packing, _ = requestWriters.Get().(*requestWriter)
	return s.packing
}

// releaseWriter returns the writer to the pool, unless its buffers grew large.
func (s *Segments) releaseWriter() {
	p := s.packing
	s.packing = nil
	if cap(p.texts)+cap(p.defs)+cap(p.sets)+cap(p.key) > maxBuffer {
		return
	}
	p.texts, p.defs, p.sets = p.texts[:0], p.defs[:0], p.sets[:0]
	p.messages, p.fields = p.messages[:0], p.fields[:0]
	p.err = nil
	requestWriters.Put(p)
}

// assemble returns the encoded request.
func (s *Segments) assemble() []byte {
	p := s.packing
	b := make([]byte, 0, len(p.texts)+len(p.defs)+len(p.sets)+128)
	b = append(b, '{')
	b = members(b, `"new":{`, p.texts)
	b = members(b, `"defs":{`, p.defs)
	b = s.messageSeq.pack(append(b, `"messages":`...), p.messages)
	if len(p.fields) == 0 {
		return append(b, '}')
	}
	b = members(append(b, ','), `"sets":{`, p.sets)
	b = s.fieldSeq.pack(append(b, `"with":`...), p.fields)
	return append(b, '}')
}

func members(b []byte, open string, all []byte) []byte {
	if len(all) == 0 {
		return b
	}
	return append(append(append(b, open...), all...), "},"...)
}

func (p *requestWriter) text(id int, t string) {
	p.texts = jsonvalue.AppendString(member(p.texts, id), t)
}

func (p *requestWriter) message(id int, head json.RawMessage, segs *sequence) {
	b := append(member(p.defs, id), '{')
	if len(head) > 0 {
		b = append(p.json(append(b, `"head":`...), head), ',')
	}
	b = segs.pack(append(b, `"text":`...), p.ids)
	p.defs = append(b, '}')
}

// field writes a field with its JSON or, if text is not 0, a reference to that text.
func (p *requestWriter) field(id int, f Field, ref string, text int) {
	b := jsonvalue.AppendString(append(member(p.sets, id), `{"name":`...), jsonvalue.ValidString(f.Name))
	switch {
	case text != 0:
		b = append(append(append(b, `,"`...), ref...), `":`...)
		b = strconv.AppendInt(b, int64(text), 10)
	case len(f.JSON) > 0:
		b = p.json(append(b, `,"json":`...), f.JSON)
	}
	p.sets = append(b, '}')
}

// json writes what callers have encoded; invalid JSON fails the request.
func (p *requestWriter) json(b []byte, v json.RawMessage) []byte {
	if json.Valid(v) && utf8.Valid(v) && bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return append(b, v...)
	}
	compact, err := jsonvalue.Marshal(v)
	if err != nil {
		p.err = err
	}
	return append(b, compact...)
}

func member(b []byte, id int) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = strconv.AppendInt(append(b, '"'), int64(id), 10)
	return append(b, `":`...)
}

func (p *requestWriter) messageKey(head []byte, ids []int32) [sha256.Size]byte {
	key := append(p.key[:0], head...)
	for _, id := range ids {
		key = append(key, byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
	}
	p.key = key
	return sha256.Sum256(key)
}

func (p *requestWriter) fieldKey(f Field) [sha256.Size]byte {
	p.key = append(append(append(p.key[:0], f.Name...), 0), f.JSON...)
	return sha256.Sum256(p.key)
}
