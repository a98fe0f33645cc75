package feed

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Cursor is the position of a numbered event of a run. The zero Cursor is the position
// before the first event.
type Cursor struct {
	Rewinds int // how often the run was rewound before the event: engine.Event.Rewinds
	Seq     int // number of the event: engine.Event.Seq
}

// String returns "REWINDS.SEQ", such as "0.41".
func (c Cursor) String() string { return strconv.Itoa(c.Rewinds) + "." + strconv.Itoa(c.Seq) }

// Compare returns -1, 0 or +1 if the event at c is before, at or after the one at d. A
// replay of a journal has increasing cursors.
func (c Cursor) Compare(d Cursor) int {
	return cmp.Or(cmp.Compare(c.Rewinds, d.Rewinds), cmp.Compare(c.Seq, d.Seq))
}

// ParseCursor parses the result of Cursor.String. The error is a *CursorError.
func ParseCursor(s string) (Cursor, error) {
	rewinds, seq, ok := strings.Cut(s, ".")
	c := Cursor{}
	var okRewinds, okSeq bool
	c.Rewinds, okRewinds = parseNumber(rewinds)
	c.Seq, okSeq = parseNumber(seq)
	if !ok || !okRewinds || !okSeq {
		return Cursor{}, &CursorError{Value: s}
	}
	return c, nil
}

// parseNumber parses a decimal number of up to 9 digits without sign or leading zeros.
func parseNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) <= 9 && strconv.Itoa(n) == s && n >= 0
}

// CursorOf returns the cursor at which the client wants to continue: the header
// Last-Event-ID, which a browser sends when it reconnects, or the query parameter after.
// It returns the zero Cursor if the request has neither. The error is a *CursorError.
func CursorOf(r *http.Request) (Cursor, error) {
	s := r.Header.Get("Last-Event-ID")
	if s == "" {
		s = r.URL.Query().Get("after")
	}
	if s == "" {
		return Cursor{}, nil
	}
	return ParseCursor(s)
}

// CursorError reports a cursor that is malformed or that no event of the run has. It is
// the client's mistake.
type CursorError struct {
	Value   string
	Unknown bool   // well-formed, but no event has it
	Last    Cursor // of the last event, if Unknown
}

// Error implements error.
func (e *CursorError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("unknown cursor %s: the last event of the run is %s; omit the cursor to start from the first event", e.Value, e.Last)
	}
	return fmt.Sprintf("invalid cursor %.40q: use the id of an event, such as 0.41", e.Value)
}
