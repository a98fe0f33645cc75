package httpclient

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
)

// Limits of every client.
const (
	connectTimeout = 10 * time.Second
	maxHeader      = 256 << 10
	maxRefusal     = 64 << 10
	maxLine        = 8 << 20 // of an event stream
)

// Settings of a Client. The zero value is usable.
type Settings struct {
	UserAgent string   // "" = "pex"
	Secrets   []string // replaced in every error; values shorter than 4 bytes are not
	Retry     retry.Policy
	Limiter   *Limiter // nil = no limit; see Shared
	Breaker   *Breaker // nil = every attempt is sent; see SharedBreaker

	FirstByte time.Duration // until the response header; 0 = 5 min
	Idle      time.Duration // between two reads of a body; 0 = 2 min
	Total     time.Duration // one attempt including its body; 0 = 10 min
	MaxBody   int64         // after decompression; 0 = 16 MiB
	MaxStream int64         // like MaxBody, for event streams; 0 = 64 MiB

	Base   http.RoundTripper                          // nil = the process's Pool without Certificates
	Sleep  func(context.Context, time.Duration) error // between attempts; nil = a timer
	Random func() float64                             // for jitter; nil = math/rand
}

// Client sends requests to one model server. It is safe for concurrent use.
type Client struct {
	s      Settings
	redact redactor
	http   *http.Client
}

// New returns a client. It opens no connection.
func New(s Settings) *Client {
	s.FirstByte = orDefault(s.FirstByte, 5*time.Minute)
	s.Idle = orDefault(s.Idle, 2*time.Minute)
	s.Total = orDefault(s.Total, 10*time.Minute)
	s.MaxBody = orDefault(s.MaxBody, 16<<20)
	s.MaxStream = orDefault(s.MaxStream, 64<<20)
	if s.Base == nil {
		s.Base, _ = Pool(Certificates{}) // cannot fail: no files to read
	}
	if s.Sleep == nil {
		s.Sleep = sleep
	}
	if s.Random == nil {
		s.Random = rand.Float64
	}
	c := &Client{s: s, redact: newRedactor(slices.Concat(s.Secrets, proxySecrets()))}
	c.http = &http.Client{Transport: (*roundTripper)(c), CheckRedirect: c.checkRedirect}
	return c
}

// HTTP returns the client for a provider's library. Each request is one attempt. Responses with status 400 and above
// are returned as errors that wrap an *Error. The library's own retries and timeouts must be off.
func (c *Client) HTTP() *http.Client { return c.http }

// Redact replaces the client's secrets in a text.
func (c *Client) Redact(s string) string { return c.redact.text(s) }

// CloseIdle closes the connections of the pool that are not in use.
func (c *Client) CloseIdle() {
	if b, ok := c.s.Base.(interface{ CloseIdleConnections() }); ok {
		b.CloseIdleConnections()
	}
}

// checkRedirect follows few redirects, and none to another host, which would receive the key, or to another method.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	why := ""
	switch {
	case len(via) > defaultRedirects:
		why = fmt.Sprintf("redirected more than %d times", defaultRedirects)
	case !sameOrigin(req.URL, via[0].URL):
		why = "redirected to another host"
	case req.Method != via[0].Method:
		why = fmt.Sprintf("a redirect would turn the %s into a %s", via[0].Method, req.Method)
	default:
		return nil
	}
	err := &Error{
		Kind: model.BadRequest, Final: true, Err: ErrRedirect,
		Message: c.Redact(fmt.Sprintf("%s: set the base URL to the target of %s", why, req.URL.Redacted())),
	}
	recordError(req.Context(), err)
	return err
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// sleep waits for d, or returns the error of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func setUserAgent(req *http.Request, agent string) {
	if agent == "" {
		agent = "pex"
	}
	req.Header.Set("User-Agent", agent)
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

func orDefault[T int64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}
