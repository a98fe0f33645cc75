package process

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const defaultKeep = 256 << 10

// stream reads one output of a child to its end and stores head and tail.
type stream struct {
	half     int
	from, to *os.File
	done     chan struct{} // closed when reading has ended

	mu    sync.Mutex
	head  []byte
	tail  []byte // the last bytes after head, a ring buffer once it is full
	next  int    // start of the ring buffer
	total int64
}

func newStream(keep int) *stream {
	if keep <= 0 {
		keep = defaultKeep
	}
	return &stream{half: max(keep/2, 1), done: make(chan struct{})}
}

// attach creates the pipe and sets the child's end.
func (s *stream) attach(to *io.Writer) (err error) {
	if s.from, s.to, err = os.Pipe(); err == nil {
		*to = s.to
	}
	return err
}

// started closes our copy of the child's end and starts reading.
func (s *stream) started() {
	s.to.Close()
	go func() {
		defer close(s.done)
		// The read ends with the pipe or by close; errors do not matter.
		_, _ = io.Copy(s, s.from)
	}()
}

// Write stores what fits.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	s.total += int64(n)
	fit := min(len(p), s.half-len(s.head))
	s.head = append(s.head, p[:fit]...)
	p = p[fit:]
	p = p[max(0, len(p)-s.half):]
	fit = min(len(p), s.half-len(s.tail))
	s.tail = append(s.tail, p[:fit]...)
	for p = p[fit:]; len(p) > 0; {
		fit = copy(s.tail[s.next:], p)
		s.next = (s.next + fit) % s.half
		p = p[fit:]
	}
	return n, nil
}

// drain waits for the end of the stream and reports whether it was reached in time.
func (s *stream) drain(atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-s.done:
		return true
	case <-timer.C:
		return false
	}
}

// close closes the pipe, which ends the reading.
func (s *stream) close() {
	for _, f := range []*os.File{s.from, s.to} {
		if f != nil {
			f.Close()
		}
	}
}

// text returns the stored output as valid UTF-8.
func (s *stream) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(s.head)
	if left := s.total - int64(len(s.head)+len(s.tail)); left > 0 {
		text += fmt.Sprintf("\n[... %d bytes left out ...]\n", left)
	}
	text += string(s.tail[s.next:]) + string(s.tail[:s.next])
	return strings.ToValidUTF8(text, "\uFFFD")
}
