package apiclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

// maxAttempts is how often a broken connection is repeated without success.
const maxAttempts = 10

// maxLine is the maximum size of an event in bytes.
const maxLine = 64 << 20

// Watcher receives the events of a run.
type Watcher struct {
	After string             // cursor of the last event that was received; "" = from the start
	Event func(engine.Event) // required
	// Rewound is called if the events after a number are void. Nil = not at all.
	Rewound func(after int)
	// Broken is called when a connection breaks, before it is repeated. Nil = not at all.
	Broken func(error)
}

// Watch sends the events of a run to a watcher until the run ends, waits or is suspended,
// or ctx ends, and returns the status. If a connection breaks, it continues after the
// last event: no event is lost or repeated. w.After is updated.
func (c *Client) Watch(ctx context.Context, run string, w *Watcher) (stop.RunStatus, error) {
	for failed := 0; ; {
		status, progress, err := c.watchOnce(ctx, run, w)
		if status != "" || err == nil {
			return status, err
		}
		if progress {
			failed = 0
		}
		if failed++; failed >= maxAttempts || !isTemporary(err) || ctx.Err() != nil {
			return "", err
		}
		if w.Broken != nil && failed == 1 {
			w.Broken(err)
		}
		if err := c.pause(ctx, delay(failed)); err != nil {
			return "", err
		}
	}
}

// AwaitEnd returns once a run that is being cancelled has ended, or after 30 seconds.
func (c *Client) AwaitEnd(ctx context.Context, run string) error {
	const interval, attempts = 100 * time.Millisecond, 300
	for range attempts {
		status, err := c.Watch(ctx, run, &Watcher{Event: func(engine.Event) {}})
		if err != nil || status != stop.RunInterrupted && !IsLive(status) {
			return err
		}
		if err := c.pause(ctx, interval); err != nil {
			return err
		}
	}
	return nil
}

// retry repeats a call as long as the server cannot be reached.
func (c *Client) retry(ctx context.Context, call func() error) error {
	for failed := 1; ; failed++ {
		err := call()
		if err == nil || failed >= 3 || !isTemporary(err) || ctx.Err() != nil {
			return err
		}
		if err := c.pause(ctx, delay(failed)); err != nil {
			return err
		}
	}
}

// delay returns how long to wait after a number of failures.
func delay(failed int) time.Duration {
	return min(250*time.Millisecond<<(failed-1), 5*time.Second)
}

// isTemporary reports whether a request may succeed later: the server restarts, or a
// connection broke.
func isTemporary(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status == http.StatusServiceUnavailable || e.Status == http.StatusBadGateway || e.Status == http.StatusGatewayTimeout
	}
	return errors.As(err, new(*ConnectionError))
}

// errBroken reports a feed that ended without its last line.
var errBroken = errors.New("the connection broke")

// watchOnce watches a run over one connection. progress reports whether events arrived.
func (c *Client) watchOnce(ctx context.Context, run string, w *Watcher) (status stop.RunStatus, progress bool, err error) {
	header := http.Header{"Accept": {"application/jsonl"}}
	if w.After != "" {
		header.Set("Last-Event-ID", w.After)
	}
	progress, err = c.readLines(ctx, runPath(run, "/events"), header, func(line []byte) (last bool, err error) {
		status, err = w.line(line)
		return status != "", err
	})
	return status, progress, err
}

// readLines passes the lines of a feed to read until one is the last. progress reports whether
// there were any.
func (c *Client) readLines(ctx context.Context, path string, header http.Header, read func([]byte) (last bool, err error)) (progress bool, err error) {
	res, err := c.send(ctx, http.MethodGet, path, nil, header)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	lines.Split(wholeLines)
	for lines.Scan() {
		if last, err := read(lines.Bytes()); last || err != nil {
			return true, err
		}
		progress = true
	}
	err = lines.Err()
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errBroken
	}
	return progress, connectionError(c.base, err)
}

// First returns the first event of a run: its start.
func (c *Client) First(ctx context.Context, run string) (first engine.Event, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &Watcher{Event: func(e engine.Event) {
		if e.Seq == 1 {
			first = e
			cancel()
		}
	}}
	_, _, err = c.watchOnce(ctx, run, w)
	if first.Seq == 1 {
		err = nil
	}
	return first, err
}

// wholeLines is bufio.ScanLines without the last line if it is incomplete.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// line handles a line of a feed. It returns the status of the last one.
func (w *Watcher) line(b []byte) (stop.RunStatus, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return "", nil
	}
	var head struct {
		Type   string         `json:"type"`
		After  int            `json:"after"`
		Status stop.RunStatus `json:"status"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return "", fmt.Errorf("invalid event: %w", err)
	}
	switch head.Type {
	case "ping":
		return "", nil
	case "end":
		return head.Status, nil
	case "rewound":
		if w.Rewound != nil {
			w.Rewound(head.After)
		}
		return "", nil
	}
	var e engine.Event
	if err := json.Unmarshal(b, &e); err != nil {
		return "", fmt.Errorf("invalid event: %w", err)
	}
	if e.Seq > 0 {
		w.After = fmt.Sprintf("%d.%d", e.Rewinds, e.Seq)
	}
	w.Event(e)
	return "", nil
}
