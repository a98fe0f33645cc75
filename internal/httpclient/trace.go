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

// maxTraced is how much of a body a trace shows, in bytes.
const maxTraced = 1 << 20

// Trace writes the HTTP exchanges of a process for people to read: one line for
// each, or whole requests and replies. Secrets are replaced in everything that it
// writes. Safe for concurrent use.
type Trace struct {
	whole bool
	now   func() time.Time

	mu    sync.Mutex
	w     io.Writer
	masks []*secret.Values
	last  int // number of the latest exchange
}

// NewTrace writes to w; whole adds headers and bodies. secrets are replaced, besides
// those of the client that sends a request.
func NewTrace(w io.Writer, whole bool, secrets *secret.Values, now func() time.Time) *Trace {
	return &Trace{w: w, whole: whole, now: now, masks: []*secret.Values{secrets}}
}

// Mask adds secrets that are to be replaced. A nil Trace has none.
func (t *Trace) Mask(secrets ...*secret.Values) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.masks = append(t.masks, secrets...)
}

// tracing is the trace of the process; nil = there is none.
var tracing atomic.Pointer[Trace]

// Start makes t the trace of all clients of the process, until stop is called.
func (t *Trace) Start() (stop func()) {
	before := tracing.Swap(t)
	return func() { tracing.Store(before) }
}

// exchange is one request and its reply. A nil exchange is not traced.
type exchange struct {
	trace *Trace
	masks masks
	n     int
	began time.Time
	what  string // method and address
}

// traced begins the exchange of a request, which is about to be sent.
func traced(req *http.Request, r redactor) *exchange {
	t := tracing.Load()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	t.last++
	x := &exchange{trace: t, n: t.last, began: t.now(), masks: append(masks{r.values}, t.masks...)}
	t.mu.Unlock()
	x.what = req.Method + " " + x.masks.address(req.URL)
	if !t.whole {
		return x
	}
	lines := append([]string{x.what}, x.masks.headers(req.Header)...)
	x.write(">", append(lines, x.masks.content(req.Header, requestBody(req))...))
	return x
}

// requestBody returns the body of a request, which can still be sent.
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

// failing is the end of a body that could not be read.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// answered notes what came back, and traces the body as it is read.
func (x *exchange) answered(resp *http.Response, err error) {
	switch {
	case x == nil:
	case err != nil:
		x.end("failed after %s: %s", x.took(), x.masks.text(err.Error()))
	default:
		if x.trace.whole {
			x.write("<", append([]string{fmt.Sprintf("%s (%s)", x.masks.text(resp.Status), x.took())}, x.masks.headers(resp.Header)...))
		}
		if resp.Body != nil {
			resp.Body = &tracedBody{ReadCloser: resp.Body, x: x, header: resp.Header, status: resp.Status}
		}
	}
}

// tracedBody keeps what is read of a body, and traces it at its end.
type tracedBody struct {
	io.ReadCloser
	x      *exchange
	header http.Header
	status string

	mu   sync.Mutex
	kept []byte
	size int64
	done bool
}

// Read implements io.Reader.
func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	b.size += int64(n)
	if room := maxTraced - len(b.kept); b.x.trace.whole && room > 0 {
		b.kept = append(b.kept, p[:min(n, room)]...)
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
	if x.trace.whole {
		more := b.size - int64(len(b.kept))
		if more > 0 {
			b.kept = x.masks.begin(b.kept)
		}
		lines := x.masks.content(b.header, b.kept)
		if more > 0 {
			lines = append(lines, fmt.Sprintf("(and %d bytes more)", more))
		}
		x.write("<", lines)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		x.end("%s, broke off after %d bytes and %s: %s", x.masks.text(b.status), b.size, x.took(), x.masks.text(err.Error()))
		return
	}
	x.end("%s, %d bytes in %s", x.masks.text(b.status), b.size, x.took())
}

func (x *exchange) took() time.Duration { return x.trace.now().Sub(x.began).Round(time.Millisecond) }

// end writes the last line of an exchange.
func (x *exchange) end(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !x.trace.whole {
		x.write("http", []string{x.what + ": " + line})
		return
	}
	x.write("=", []string{line})
}

// write writes lines, each with the number of the exchange.
func (x *exchange) write(mark string, lines []string) {
	var b strings.Builder
	for _, line := range lines {
		prefix := fmt.Sprintf("#%d %s ", x.n, mark)
		if !x.trace.whole {
			prefix = fmt.Sprintf("%s #%d: ", mark, x.n)
		}
		b.WriteString(strings.TrimRight(prefix+line, " \r") + "\n")
	}
	x.trace.mu.Lock()
	defer x.trace.mu.Unlock()
	_, _ = io.WriteString(x.trace.w, b.String())
}

// content is a body as lines, after a blank one; nil = there is none.
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

// trimPartial is a body without an incomplete character at its end.
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

// address is a URL without the secrets in it.
func (m masks) address(u *url.URL) string {
	shown := *u
	if shown.User != nil {
		shown.User = url.User("redacted")
	}
	shown.RawQuery = m.form(shown.RawQuery)
	return m.text(shown.String())
}
