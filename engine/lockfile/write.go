package lockfile

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Write writes the lock file. Its output is deterministic.
func (l *Lock) Write(w io.Writer) error {
	doc := document{Version: version, Servers: []server{}}
	for _, e := range l.Entries() {
		s := server{Spec: e.Spec, Entry: e.Name, Origin: e.Origin, Server: e.Server, Tools: []pinnedTool{}}
		for _, d := range e.Tools {
			sum, err := Digest(d)
			if err != nil {
				return err
			}
			s.Tools = append(s.Tools, pinnedTool{d.Name, sum, d.Title, multiline(d.Description), d.Input, d.Output, d.Hints})
		}
		doc.Servers = append(doc.Servers, s)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// multiline is a text written as a list of lines if it has several, for readable diffs.
type multiline string

// MarshalJSON encodes a text, or the list of its lines.
func (p multiline) MarshalJSON() ([]byte, error) {
	if lines := strings.Split(string(p), "\n"); len(lines) > 1 {
		return toJSON(lines), nil
	}
	return toJSON(string(p)), nil
}

// UnmarshalJSON reverses MarshalJSON.
func (p *multiline) UnmarshalJSON(b []byte) error {
	var line string
	if json.Unmarshal(b, &line) == nil {
		*p = multiline(line)
		return nil
	}
	var lines []string
	if json.Unmarshal(b, &lines) != nil {
		return errors.New("a description is a text, or a list of its lines")
	}
	*p = multiline(strings.Join(lines, "\n"))
	return nil
}
