package langchain

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// done ends a stream of events, where a backend has it.
const done = "[DONE]"

// streamed reads a stream to its end, and tells its pieces. The client gets an
// empty one: it would take one that breaks off, or a piece that quotes the mark
// of the end, for the whole, and add up a long reply in quadratic time.
func (x *exchange) streamed(resp *http.Response) (*http.Response, error) {
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") && kind != "" {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // what can be had of an explanation
		return nil, call.Bad("the server sent %s where an event stream was asked for: %s", kind, wire.Explain(text))
	}
	lines := bufio.NewReaderSize(resp.Body, 32<<10)
	for !x.draft.ended {
		data, err := nextEvent(lines)
		if errors.Is(err, io.EOF) {
			return nil, &engine.ModelError{Kind: engine.Truncated, Message: "the stream ended before the reply did"}
		}
		if err != nil {
			return nil, err
		}
		if err := cmp.Or(x.event(data), resp.Request.Context().Err()); err != nil {
			return nil, err
		}
	}
	return answered(resp, http.NoBody), nil
}

// nextEvent is the data of the next event; io.EOF where the stream ends. Older
// servers send errors in lines of their own.
func nextEvent(lines *bufio.Reader) ([]byte, error) {
	for {
		line, err := lines.ReadBytes('\n')
		name, data, _ := bytes.Cut(line, []byte(":"))
		data = bytes.TrimSpace(data)
		switch {
		case err != nil && (!errors.Is(err, io.EOF) || !entire(data)):
			return nil, err
		case string(name) == "error":
			return nil, reported(data)
		case string(name) == "data" && len(data) > 0:
			return data, nil
		}
	}
}

// entire says that the last line lacks nothing but its end.
func entire(data []byte) bool { return string(data) == done || json.Valid(data) }

// event takes one event of a stream.
func (x *exchange) event(data []byte) error {
	if string(data) == done {
		x.draft.ended = true
		return nil
	}
	x.draft.piece = ""
	if err := x.model.backend.event(data, &x.draft); err != nil || x.draft.piece == "" {
		return err
	}
	if err := x.heard.More(len(x.draft.piece)); err != nil {
		return err
	}
	if x.first == 0 {
		x.first = max(time.Since(x.started), 1)
	}
	x.text.WriteString(x.draft.piece)
	x.deltas(engine.Delta{Text: x.draft.piece})
	return nil
}
