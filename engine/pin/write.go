package pin

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Write writes the lock as Read reads it: the same bytes for the same pins.
func (l *Lock) Write(w io.Writer) error {
	doc := document{Version: version, Servers: []server{}}
	for _, e := range l.Entries() {
		s := server{Spec: e.Spec, Entry: e.Name, Origin: e.Origin, Server: e.Server, Tools: []pinnedTool{}}
		for _, d := range e.Tools {
			sum, err := Digest(d)
			if err != nil {
				return err
			}
			s.Tools = append(s.Tools, pinnedTool{d.Name, sum, d.Title, prose(d.Description), d.Input, d.Output, d.Hints})
		}
		doc.Servers = append(doc.Servers, s)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// prose is a text that stands in the file line by line, for a diff that people
// can read: a list where it has more than one line.
type prose string

// MarshalJSON writes a text, or the list of its lines.
func (p prose) MarshalJSON() ([]byte, error) {
	if lines := strings.Split(string(p), "\n"); len(lines) > 1 {
		return encoded(lines), nil
	}
	return encoded(string(p)), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *prose) UnmarshalJSON(b []byte) error {
	var line string
	if json.Unmarshal(b, &line) == nil {
		*p = prose(line)
		return nil
	}
	var lines []string
	if json.Unmarshal(b, &lines) != nil {
		return errors.New("a description is a text, or a list of its lines")
	}
	*p = prose(strings.Join(lines, "\n"))
	return nil
}
