package modelhttp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
)

// EventStream is the media type of server-sent events.
const EventStream = "text/event-stream"

// Event is one event of a text/event-stream. Data is valid until the next one is read.
type Event struct {
	Type string // "" if the server does not name it
	Data []byte // without surrounding white space, never empty
}

// Events reads the events of a text/event-stream, reusing one buffer for all. It skips
// comments and events without data. An event without the final blank line counts if its
// data is complete JSON. After an error, which is the reader's, the iteration ends.
func Events(from io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := eventScanner{lines: bufio.NewReader(from)}
		for {
			line, err := s.line()
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Event{}, err)
				return
			}
			last := err != nil
			s.field(line)
			if len(line) > 0 && !last {
				continue
			}
			data := bytes.TrimSpace(s.data)
			if len(data) > 0 && (!last || json.Valid(data)) && !yield(Event{s.kind, data}, nil) || last {
				return
			}
			s.kind, s.data = "", s.data[:0]
		}
	}
}

// eventScanner holds the event being read.
type eventScanner struct {
	lines    *bufio.Reader
	long     []byte // a line longer than the reader's buffer
	kind     string
	lastKind string // saves allocating the same string for each event
	data     []byte
}

// line returns the next line without its end, valid until the next call. The error is
// io.EOF with the last line, which has no end.
func (s *eventScanner) line() ([]byte, error) {
	line, err := s.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.long = s.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			s.long = append(s.long, line...)
			line, err = s.lines.ReadSlice('\n')
		}
		s.long = append(s.long, line...)
		line = s.long
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// field adds a line to the event. Unknown fields and comments are ignored.
func (s *eventScanner) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		if s.lastKind != string(value) {
			s.lastKind = string(value)
		}
		s.kind = s.lastKind
	case "data":
		s.data = append(append(s.data, value...), '\n')
	}
}

// IsEventStream reports whether a Content-Type is that of server-sent events.
func IsEventStream(contentType string) bool {
	return strings.HasPrefix(contentType, EventStream)
}
