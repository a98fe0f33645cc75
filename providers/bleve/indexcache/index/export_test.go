package index

import (
	"bytes"

	"github.com/blevesearch/bleve/v2/analysis"
)

// EncodeSegment returns a segment with one file.
func EncodeSegment(path string, passages ...string) []byte {
	x := InMemory(plain{})
	b := newBuilder()
	b.file(path)
	for i, text := range passages {
		b.add(i, analyze(x.analyzer, Passage{Text: text}))
	}
	return b.encode()
}

// plain splits a text at spaces.
type plain struct{}

func (plain) Analyze(text []byte) (out analysis.TokenStream) {
	for word := range bytes.FieldsSeq(text) {
		out = append(out, &analysis.Token{Term: word})
	}
	return out
}

// UseSegment decodes a segment and reads all that is in it. It returns the number of passages, and those with a term.
func UseSegment(raw []byte, term string) (n int, found []int, err error) {
	s, err := decodeSegment(raw)
	if err != nil {
		return 0, nil, err
	}
	for path := range s.paths {
		if _, err := s.vectorsOf(path); err != nil {
			return 0, nil, err
		}
	}
	for i := range s.len() {
		if _, err := s.place(i); err != nil {
			return 0, nil, err
		}
	}
	list, err := s.term([]byte(term))
	for _, p := range list {
		found = append(found, int(p.passage))
	}
	if err == nil {
		err = newBuilder().merge(s, func(string) bool { return true })
	}
	return s.len(), found, err
}
