package feed

import (
	"cmp"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	pingInterval = 15 * time.Second // of silence, after which a writer shows that it is alive
	writeTimeout = 30 * time.Second // of each write
)

// Format is a format of a stream of items.
type Format int

// The formats.
const (
	EventStream Format = iota // text/event-stream: server-sent events
	JSONLines                 // application/jsonl: one JSON object per line
	// DataStream is text/event-stream with the type and the data of items only, for other
	// protocols: "event: TYPE" unless Type is "", and "data: DATA".
	DataStream
)

// FormatOf returns the format that the client accepts; EventStream if it does not say.
func FormatOf(r *http.Request) Format {
	for accept := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, _, _ := strings.Cut(accept, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "text/event-stream":
			return EventStream
		case "application/jsonl", "application/x-ndjson":
			return JSONLines
		}
	}
	return EventStream
}

// ContentType returns the media type.
func (f Format) ContentType() string {
	if f == JSONLines {
		return "application/jsonl"
	}
	return "text/event-stream"
}

// Option changes how Write works.
type Option func(*stream)

// OnFailure calls cancel, which should end the items, as soon as a write fails. Without
// it Write notices the failure of a ping only at the next item.
func OnFailure(cancel func()) Option { return func(s *stream) { s.cancel = cancel } }

// Write responds with items until they end, and returns the first write error. A write
// that takes longer than 30 seconds fails, so a client that does not read is dropped.
// Every 15 seconds without an item Write sends a ping: a comment, or a line of type ping.
func Write(w http.ResponseWriter, r *http.Request, items iter.Seq[Item], format Format, opts ...Option) error {
	s := &stream{w: w, control: http.NewResponseController(w), format: format, cancel: func() {}}
	for _, o := range opts {
		o(s)
	}
	s.sendHeader()
	if r.Method == http.MethodHead {
		return nil
	}
	s.start()
	defer s.close()
	for item := range items {
		if !s.send(item) {
			break
		}
	}
	return s.failure()
}

// frames holds buffers for items. Watchers are idle most of the time, so they share them.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// stream writes items and pings to one client.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	format  Format
	cancel  func()

	mu     sync.Mutex // held while writing
	ping   *time.Timer
	closed bool
	err    error
}

func (s *stream) sendHeader() {
	h := s.w.Header()
	h.Set("Content-Type", s.format.ContentType())
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of nginx
	s.w.WriteHeader(http.StatusOK)
}

// start sends the delay after which a browser reconnects, and starts the pings.
func (s *stream) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.format == EventStream {
		s.write([]byte("retry: 2000\n\n"))
	}
	s.flush()
	s.ping = time.AfterFunc(pingInterval, s.sendPing)
}

// send writes an item and reports whether the client can receive more.
func (s *stream) send(i Item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	frame, _ := frames.Get().(*[]byte)
	*frame = s.format.appendItem((*frame)[:0], i)
	s.write(*frame)
	frames.Put(frame)
	if !i.More {
		s.flush()
		s.ping.Reset(pingInterval)
	}
	return s.err == nil
}

func (s *stream) sendPing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.err != nil {
		return
	}
	if s.format == JSONLines {
		s.write([]byte(`{"type":"ping"}` + "\n"))
	} else {
		s.write([]byte(": ping\n\n"))
	}
	s.flush()
	s.ping.Reset(pingInterval)
}

// write writes b before the deadline.
func (s *stream) write(b []byte) {
	s.try(func() error {
		if err := s.setDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		_, err := s.w.Write(b)
		return err
	})
}

func (s *stream) flush() {
	s.try(func() error {
		if err := s.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		return nil
	})
}

// try calls f if no write has failed so far.
func (s *stream) try(f func() error) {
	if s.err != nil {
		return
	}
	if s.err = f(); s.err != nil {
		s.cancel()
	}
}

func (s *stream) setDeadline(t time.Time) error {
	if err := s.control.SetWriteDeadline(t); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// close stops the pings and removes the deadline, which would hold for the next request
// of the connection.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.ping != nil {
		s.ping.Stop()
	}
	if s.err == nil {
		_ = s.setDeadline(time.Time{}) // the response was sent; the next write reports a broken connection
	}
}

func (s *stream) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// appendItem appends an item in the format. Data is one line, since JSON escapes line
// breaks.
func (f Format) appendItem(b []byte, i Item) []byte {
	isEvent := i.Type != End && i.Type != Rewound && i.Type != Turn
	switch {
	case f == DataStream:
		if i.Type != "" {
			b = append(append(append(b, "event: "...), i.Type...), '\n')
		}
		return append(append(append(b, "data: "...), i.Data...), "\n\n"...)
	case f == EventStream:
		if i.Cursor.Seq != 0 {
			b = append(append(append(b, "id: "...), cmp.Or(i.ID, i.Cursor.String())...), '\n')
		}
		if i.Type == End { // a browser reconnects unless its page closes the stream
			b = append(b, "retry: 15000\n"...)
		}
		if i.Type != "" {
			b = append(append(append(b, "event: "...), i.Type...), '\n')
		}
		return append(append(append(b, "data: "...), i.Data...), "\n\n"...)
	case isEvent:
		return append(append(b, i.Data...), '\n')
	default: // {"type":"end","status":"completed"}
		b = append(append(append(b, `{"type":"`...), i.Type...), `",`...)
		return append(append(b, i.Data[1:]...), '\n')
	}
}
