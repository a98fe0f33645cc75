package secret

// Stream redacts a text that arrives in pieces: it holds back what may be the start of a
// value. It is for one text and one goroutine. The zero Stream, and one of nil Values,
// holds back nothing.
type Stream struct {
	values  *Values
	pending string
}

// Stream returns a Stream for a new text.
func (v *Values) Stream() *Stream { return &Stream{values: v} }

// Next returns what may be shown after one more piece; "" = nothing yet.
func (s *Stream) Next(piece string) string {
	if s.values == nil || len(s.values.needles.all) == 0 {
		return piece
	}
	s.pending += piece
	upTo := min(s.values.needles.open(s.pending), s.values.openSqueezed(s.pending))
	hits := s.values.hits(s.pending)
	for _, h := range hits {
		if h.from < upTo && upTo < h.to { // a longer value may overlap this one
			upTo = h.from
		}
	}
	shown := replace(s.pending[:upTo], 0, hits)
	s.pending = s.pending[upTo:]
	return shown
}

// Flush returns what was held back, at the end of the text.
func (s *Stream) Flush() string {
	clean, _ := s.values.Text(s.pending)
	s.pending = ""
	return clean
}
