package secret

// Stream replaces values in a text that comes in pieces, for those who watch it
// come: what may be the begin of a value is held back until it is known. It is
// for one text and one goroutine. The zero Stream, and one of nil Values, holds
// back nothing.
type Stream struct {
	values *Values
	held   string
}

// Stream is for a text that begins now.
func (v *Values) Stream() *Stream { return &Stream{values: v} }

// Next is what may be shown after one more piece; "" is nothing yet.
func (s *Stream) Next(piece string) string {
	if s.values == nil || len(s.values.needles.all) == 0 {
		return piece
	}
	s.held += piece
	upTo := min(s.values.needles.open(s.held), s.values.openSqueezed(s.held))
	hits := s.values.hits(s.held)
	for _, h := range hits {
		if h.from < upTo && upTo < h.to { // a longer value may begin with this one, or within it
			upTo = h.from
		}
	}
	shown := replace(s.held[:upTo], 0, hits)
	s.held = s.held[upTo:]
	return shown
}

// Rest is what was held back, when no more comes.
func (s *Stream) Rest() string {
	clean, _ := s.values.Text(s.held)
	s.held = ""
	return clean
}
