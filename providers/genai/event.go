package genai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"github.com/pexctl/pex/providers/call"
)

// events reads the data of an event stream, one event at a time. Comments and
// fields other than data say nothing here, and [DONE] is no event. An event
// that the end of the stream cut off counts if it is whole JSON all the same.
func events(from io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewReader(from)
		var data []byte
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(nil, err)
				return
			}
			ended := err != nil
			line = bytes.TrimRight(line, "\r\n")
			if more, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, bytes.TrimPrefix(more, []byte(" "))...), '\n')
			}
			whole := len(line) == 0
			if ended {
				whole = json.Valid(data)
			}
			if whole && len(data) > 0 && !isDone(data) && !yield(data, nil) {
				return
			}
			if len(line) == 0 {
				data = nil
			}
			if ended {
				return
			}
		}
	}
}

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// list is a body's pieces: the body itself, or the items of the list that it is.
func list(body []byte) ([]json.RawMessage, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return []json.RawMessage{body}, nil
	}
	var out []json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil || len(out) == 0 {
		return nil, call.Bad("the server's answer is a list, but not of replies: %.100s", body)
	}
	return out, nil
}
