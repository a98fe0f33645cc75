package httpclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/secret"
)

// maxTraced is the maximum size of a body in a trace, in bytes.
const maxTraced = 1 << 20

// Trace logs the HTTP exchanges of a process: one line each, or whole requests and responses. Secrets are redacted.
// It is safe for concurrent use.
type Trace struct {
	full bool
	now  func() time.Time

	mu    sync.Mutex
	w     io.Writer
	masks []*secret.Values
	last  int // number of the last exchange
}

// NewTrace returns a trace that writes to w; whole adds headers and bodies. secrets are redacted in addition to those
// of the client that sends a request.
func NewTrace(w io.Writer, whole bool, secrets *secret.Values, now func() time.Time) *Trace {
	return &Trace{w: w, full: whole, now: now, masks: []*secret.Values{secrets}}
}

// Mask adds secrets to redact. It does nothing on a nil Trace.
func (t *Trace) Mask(secrets ...*secret.Values) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.masks = append(t.masks, secrets...)
}

// tracing is the trace of the process, or nil.
var tracing atomic.Pointer[Trace]

// Start makes t the trace of all clients of the process until stop is called.
func (t *Trace) Start() (stop func()) {
	before := tracing.Swap(t)
	return func() { tracing.Store(before) }
}

// exchange is a request and its response. A nil exchange is not traced.
type exchange struct {
	trace   *Trace
	masks   masks
	n       int
	started time.Time
	what    string // method and address
}

// traced starts the exchange of a request that is about to be sent.
func traced(req *http.Request, r redactor) *exchange {
	t := tracing.Load()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	t.last++
	x := &exchange{trace: t, n: t.last, started: t.now(), masks: append(masks{r.values}, t.masks...)}
	t.mu.Unlock()
	x.what = req.Method + " " + x.masks.address(req.URL)
	if !t.full {
		return x
	}
	lines := append([]string{x.what}, x.masks.headers(req.Header)...)
	x.write(">", append(lines, x.masks.content(req.Header, requestBody(req))...))
	return x
}

// requestBody returns the body of a request, which remains readable.
func requestBody(req *http.Request) []byte {
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			defer body.Close()
			text, _ := io.ReadAll(body)
			return text
		}
	}
	text, err := io.ReadAll(req.Body)
	rest := req.Body
	req.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), failing{err}), rest}
	return text
}

// failing is a reader that returns the error of a body.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// response records the response, and traces its body as it is read.
func (x *exchange) response(resp *http.Response, err error) {
	switch {
	case x == nil:
	case err != nil:
		x.end("failed after %s: %s", x.elapsed(), x.masks.text(err.Error()))
	default:
		if x.trace.full {
			x.write("<", append([]string{fmt.Sprintf("%s (%s)", x.masks.text(resp.Status), x.elapsed())}, x.masks.headers(resp.Header)...))
		}
		if resp.Body != nil {
			resp.Body = &tracedBody{ReadCloser: resp.Body, x: x, header: resp.Header, status: resp.Status}
		}
	}
}

// tracedBody records a body and traces it at the end.
type tracedBody struct {
	io.ReadCloser
	x      *exchange
	header http.Header
	status string

	mu       sync.Mutex
	recorded []byte
	size     int64
	done     bool
}

// Read implements io.Reader.
func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	b.size += int64(n)
	if room := maxTraced - len(b.recorded); b.x.trace.full && room > 0 {
		b.recorded = append(b.recorded, p[:min(n, room)]...)
	}
	b.mu.Unlock()
	if err != nil {
		b.end(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *tracedBody) Close() error {
	b.end(nil)
	return b.ReadCloser.Close()
}

func (b *tracedBody) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return
	}
	b.done = true
	x := b.x
	if x.trace.full {
		more := b.size - int64(len(b.recorded))
		if more > 0 {
			b.recorded = x.masks.begin(b.recorded)
		}
		lines := x.masks.content(b.header, b.recorded)
		if more > 0 {
			lines = append(lines, fmt.Sprintf("(and %d bytes more)", more))
		}
		x.write("<", lines)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		x.end("%s, ended early after %d bytes and %s: %s", x.masks.text(b.status), b.size, x.elapsed(), x.masks.text(err.Error()))
		return
	}
	x.end("%s, %d bytes in %s", x.masks.text(b.status), b.size, x.elapsed())
}

func (x *exchange) elapsed() time.Duration {
	return x.trace.now().Sub(x.started).Round(time.Millisecond)
}

// end writes the last line of an exchange.
func (x *exchange) end(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !x.trace.full {
		x.write("http", []string{x.what + ": " + line})
		return
	}
	x.write("=", []string{line})
}

// write writes lines, each prefixed with the number of the exchange.
func (x *exchange) write(mark string, lines []string) {
	var b strings.Builder
	for _, line := range lines {
		prefix := fmt.Sprintf("#%d %s ", x.n, mark)
		if !x.trace.full {
			prefix = fmt.Sprintf("%s #%d: ", mark, x.n)
		}
		b.WriteString(strings.TrimRight(prefix+line, " \r") + "\n")
	}
	x.trace.mu.Lock()
	defer x.trace.mu.Unlock()
	_, _ = io.WriteString(x.trace.w, b.String())
}

// content returns a body as lines, after a blank one, or nil if it is empty.
func (m masks) content(h http.Header, body []byte) []string {
	if len(body) == 0 {
		return nil
	}
	kind := h.Get("Content-Type")
	var text string
	switch {
	case !utf8.Valid(trimPartial(body)) || bytes.IndexByte(body, 0) >= 0:
		text = fmt.Sprintf("(%d bytes of %s)", len(body), m.text(kind))
	case strings.HasPrefix(kind, eventStream):
		text = m.stream(string(body))
	case strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		text = m.form(string(body))
	default:
		text = m.body(body)
	}
	return append([]string{""}, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
}

// trimPartial removes an incomplete character at the end.
func trimPartial(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// address returns a URL without secrets.
func (m masks) address(u *url.URL) string {
	shown := *u
	if shown.User != nil {
		shown.User = url.User("redacted")
	}
	shown.RawQuery = m.form(shown.RawQuery)
	return m.text(shown.String())
}
