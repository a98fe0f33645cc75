package sink

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/pexctl/pex/engine"
)

// JSONL writes each event as one JSON line. After the first write error it stops writing,
// and Err returns that error. It is safe for concurrent use.
type JSONL struct {
	mu  sync.Mutex
	enc *json.Encoder
	err error
}

var _ engine.Sink = (*JSONL)(nil)

// NewJSONL returns a JSONL that writes to w. The caller closes w.
func NewJSONL(w io.Writer) *JSONL {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &JSONL{enc: e}
}

// Send writes one line.
func (j *JSONL) Send(ev engine.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = j.enc.Encode(ev)
	}
}

// Err returns the first write error.
func (j *JSONL) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}
