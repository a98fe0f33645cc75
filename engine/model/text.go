package model

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Text is prompt text as the segments it was composed of. A prompt shares most segments
// with the one before it, so a journal that stores segments grows only with new text. A
// Text must not be modified.
type Text []string

// String joins the segments.
func (t Text) String() string {
	switch len(t) {
	case 0:
		return ""
	case 1:
		return t[0]
	}
	return strings.Join(t, "")
}

// Len returns the length in bytes of the joined text.
func (t Text) Len() int {
	n := 0
	for _, s := range t {
		n += len(s)
	}
	return n
}

// MarshalJSON encodes the joined text; only the journal stores segments.
func (t Text) MarshalJSON() ([]byte, error) { return jsonvalue.Marshal(t.String()) }

// UnmarshalJSON reads a string, or a list of segments.
func (t *Text) UnmarshalJSON(b []byte) error {
	var segments []string
	if json.Unmarshal(b, &segments) == nil {
		*t = segments
		return nil
	}
	var whole string
	if err := json.Unmarshal(b, &whole); err != nil {
		return err
	}
	*t = Text{whole}
	return nil
}
