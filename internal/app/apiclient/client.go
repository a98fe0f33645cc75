package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/tracecontext"
)

const (
	callTime    = 90 * time.Second // of a request that is no feed or upload
	uploadTime  = 15 * time.Minute
	maxResponse = 256 << 20 // bytes of a response that is no feed
)

// Settings configure a Client.
type Settings struct {
	URL       string            // of the server, such as https://agents.example.com
	Token     string            // "" = none
	Transport http.RoundTripper // nil = http.DefaultTransport
	// Pause waits before a broken connection is repeated. It returns an error once ctx has
	// ended. Nil = a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Client calls a server. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
	pause func(context.Context, time.Duration) error
}

// New returns a Client. The error says what is wrong with the URL.
func New(s Settings) (*Client, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("invalid URL %q; use scheme, host and port, such as http://127.0.0.1:8484", s.URL)
	case u.User != nil:
		return nil, errors.New("the URL must not contain a password or token")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("invalid URL %q; remove what follows the path", s.URL)
	}
	pause := s.Pause
	if pause == nil {
		pause = sleep
	}
	return &Client{
		base: strings.TrimSuffix(strings.TrimRight(s.URL, "/"), "/v1"), token: s.Token, pause: pause,
		http: &http.Client{Transport: s.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// URL returns the address of the server, without a slash at its end.
func (c *Client) URL() string { return c.base }

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

// send sends a request; body is an io.Reader, or is encoded as JSON, nil = none. The caller closes the body of
// the response. A response with an error status becomes an *Error.
func (c *Client) send(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	content, isFile := body.(io.Reader)
	if body != nil && !isFile {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	tracecontext.From(ctx).SetHeader(req.Header)
	switch {
	case isFile:
		req.Header.Set("Content-Type", "application/octet-stream")
	case body != nil:
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, connectionError(c.base, err)
	}
	if res.StatusCode >= 300 {
		defer res.Body.Close()
		return nil, c.refused(res)
	}
	return res, nil
}

// call sends a request and returns the status and the body of the response.
func (c *Client) call(ctx context.Context, method, path string, body any) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return c.receive(ctx, method, path, body)
}

// receive is call without a time limit of its own.
func (c *Client) receive(ctx context.Context, method, path string, body any) (int, []byte, error) {
	res, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	switch {
	case err != nil:
		return 0, nil, connectionError(c.base, err)
	case len(b) > maxResponse:
		return 0, nil, fmt.Errorf("the response of %s is larger than %d bytes", c.base, maxResponse)
	}
	return res.StatusCode, b, nil
}

// get decodes the response to a GET request.
func (c *Client) get(ctx context.Context, path string, to any) error {
	_, b, err := c.call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return decode(c.base, b, to)
}

func decode(base string, b []byte, to any) error {
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("invalid response of %s: %w", base, err)
	}
	return nil
}

// runPath returns the path of a run, followed by more.
func runPath(run, more string) string { return "/v1/runs/" + url.PathEscape(run) + more }
