package httpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tracecontext"
)

// roundTripper is the Client as a round tripper that makes one attempt with typed errors.
type roundTripper Client

// CloseIdleConnections closes idle connections of the pool.
func (t *roundTripper) CloseIdleConnections() { (*Client)(t).CloseIdle() }

// RoundTrip implements http.RoundTripper.
func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	c := (*Client)(t)
	w := watch(req.Context(), c.s)
	var used connection
	out := req.WithContext(httptrace.WithClientTrace(w.ctx, used.trace()))
	out.Header = req.Header.Clone()
	setUserAgent(out, c.s.UserAgent)
	tracecontext.Inject(req.Context(), out.Header)
	x := traced(out, c.redact)
	resp, err := c.send(out, &used)
	x.response(resp, err)
	if err != nil {
		err = c.failed(w, unanswered(req.URL.Host, err))
		if e, ok := errors.AsType[*Error](err); ok {
			e.silent, e.NotSent = true, !used.connected.Load()
		}
		w.end()
		return nil, err
	}
	w.arrived()
	kind, most := resp.Header.Get("Content-Type"), c.s.MaxBody
	if isStream(kind) {
		most = c.s.MaxStream
	}
	resp.Body = &body{cappedBody: cappedBody{ReadCloser: resp.Body, most: most, text: strings.HasPrefix(kind, eventStream)}, watch: w, client: c}
	if resp.StatusCode < 400 {
		responding(req.Context())
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.refused(w, resp)
}

// eventStream is the type of a stream of lines.
const eventStream = "text/event-stream"

// isStream reports whether a content type is an event stream, as text or as frames.
func isStream(kind string) bool {
	return strings.HasPrefix(kind, eventStream) || strings.HasPrefix(kind, "application/vnd.amazon.eventstream")
}

// refused converts a response with status 400 and above to an error.
func (c *Client) refused(w *watcher, resp *http.Response) error {
	text, cut := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err := w.parent.Err(); err != nil {
		return fmt.Errorf("request ended: %w", err)
	}
	if cut != nil || len(text) == maxRefusal {
		text = c.redact.begin(text) // truncated, but still useful; the status decides
	} else {
		text = c.redact.bytes(text)
	}
	e := &Error{
		Kind: KindOf(resp.StatusCode), Status: resp.StatusCode,
		RetryAfter: RetryAfter(resp.Header, time.Now()),
		RequestID:  c.Redact(requestID(resp.Header)),
		Code:       c.Redact(resp.Header.Get("X-Amzn-Errortype")),
		Body:       text,
		Message:    Explain(text),
		Final:      resp.Header.Get("X-Should-Retry") == "false",
	}
	if e.Message == "" {
		e.Message = http.StatusText(resp.StatusCode)
	}
	if e.Status == http.StatusProxyAuthRequired {
		e.Message += proxyWants
	}
	recordError(w.parent, e)
	return e
}

// failed returns why a request or its body ended: the caller's context, a time limit, or e.
func (c *Client) failed(w *watcher, e *Error) error {
	if err := w.parent.Err(); err != nil {
		return fmt.Errorf("request ended: %w", err)
	}
	if limit, ok := errors.AsType[*Error](context.Cause(w.ctx)); ok {
		e = limit
	}
	if already, ok := errors.AsType[*Error](e.Err); ok {
		e = already
	}
	e.Message = c.Redact(e.Message)
	recordError(w.parent, e)
	return e
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "X-Amzn-Requestid", "Mistral-Correlation-Id", "Cf-Ray"} {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// Explain returns the message in the body of an error response: from the common JSON shapes ({"error": {"message"}},
// {"error": ""}, {"message"}, {"detail"}), else the first 500 bytes of the text.
func Explain(body []byte) string {
	var shape struct{ Error, Message, Detail json.RawMessage }
	if json.Unmarshal(body, &shape) == nil {
		var inner struct{ Message string }
		if json.Unmarshal(shape.Error, &inner) == nil && inner.Message != "" {
			return inner.Message
		}
		for _, raw := range []json.RawMessage{shape.Error, shape.Message, shape.Detail} {
			var s string
			if json.Unmarshal(raw, &s) == nil && s != "" {
				return s
			}
		}
	}
	return excerpt(string(body), 500)
}

// excerpt returns the start of a text, on one line, as valid UTF-8.
func excerpt(s string, most int) string {
	s = text.OneLine(strings.ToValidUTF8(s, "\uFFFD"))
	return text.Clip(s, most)
}
