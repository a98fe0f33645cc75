package tool

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/builtins/tool/page"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient"
)

const (
	maxRefusal = 1000             // bytes of an error response to show
	maxFetch   = 10 * time.Minute // a shorter tool timeout applies through the context
)

// offline returns the error of a tool that needs the network in an offline run.
func offline(name string) error {
	return fmt.Errorf("offline: pexctl test makes no network calls; give run.tools.%s or a cassette", name)
}

// noPrograms returns the error of a tool that starts programs if that is not permitted.
func noPrograms(name string) error {
	return tool.Definite(fmt.Errorf("pexctl test --no-commands starts no programs; give run.tools.%s or a cassette", name))
}

// isRead reports whether the HTTP method has no side effects.
func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// effect returns the effect of calls with these methods.
func effect(methods ...string) tool.Effect {
	if slices.ContainsFunc(methods, func(m string) bool { return !isRead(m) }) {
		return tool.WriteEffect
	}
	return tool.ReadEffect
}

// certificates returns the TLS configuration from the tool's environment (PEX_CA_FILE and
// others), as for models. If the model chooses the host, the client certificate is not
// included. Offline, it returns nil.
func certificates(s tool.Settings, chosen bool) (*tls.Config, error) {
	if s.Offline {
		return nil, nil
	}
	env := s.Env
	if env == nil {
		env = os.Getenv
	}
	files := httpclient.CertificatesOf(env)
	if chosen {
		files.ClientCert, files.ClientKey = "", ""
	}
	return files.TLS()
}

// guardedClient returns an HTTP client restricted by the guard. It follows redirects only for
// methods without side effects.
func guardedClient(g httpclient.GuardSettings) *http.Client {
	g.Timeout = maxFetch
	c := httpclient.NewGuarded(g)
	follow := c.CheckRedirect
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if !isRead(via[0].Method) {
			return http.ErrUseLastResponse
		}
		return follow(req, via)
	}
	return c
}

// anyHost reports whether an entry of allow_hosts matches every host.
func anyHost(entry string) bool {
	if host, _, err := net.SplitHostPort(entry); err == nil {
		entry = host
	}
	return strings.Trim(entry, "*.?[]") == ""
}

// open reports whether hosts let the model choose the server.
func open(hosts []string) bool {
	return len(hosts) == 0 || slices.ContainsFunc(hosts, anyHost)
}

// reachText describes the hosts that may be called.
func reachText(hosts []string) string {
	if len(hosts) == 0 {
		return "Reaches public addresses only."
	}
	return "Reaches only these hosts: " + strings.Join(hosts, ", ") + "."
}

// access returns the hosts for a tool.AccessDescriber.
func hostAccess(hosts []string) []string {
	if len(hosts) == 0 {
		return []string{"connects to any public address that a model names"}
	}
	return []string{"connects to " + strings.Join(hosts, ", ")}
}

// setHeaders adds the author's headers. It skips a header that is empty because its
// references are unset.
func setHeaders(req *http.Request, headers map[string]component.Template, look component.Lookup) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := strings.TrimSpace(headers[name].Render(look))
		if !headerValue(value) {
			return fmt.Errorf("header %s would contain a line break or another control character", name)
		}
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return nil
}

// ask sends a request and returns the response in a form that a model can read. subject
// names the request in errors. The error is a *tool.UnknownOutcomeError if the request
// was sent and no complete response arrived, a *tool.DefiniteError if it was not sent,
// and wraps a *tool.UnavailableError if the server is down. Tools that let the model
// choose the server remove the latter; see anyServer.
func ask(client *http.Client, req *http.Request, subject string) (*tool.Output, error) {
	var sent atomic.Bool // once set, the server may have processed the request
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	resp, err := client.Do(req)
	switch {
	case err != nil && sent.Load():
		return nil, requestError(subject, err, tool.UnknownOutcome)
	case err != nil:
		return nil, requestError(subject, err, tool.Definite)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if errors.Is(err, httpclient.ErrTooLarge) && !isRead(req.Method) && resp.StatusCode < 300 {
		return &tool.Output{Text: resp.Status + ": the request succeeded; its response is too large to be shown"}, nil
	}
	if err != nil && (resp.StatusCode < 300 || isRead(req.Method) && req.Context().Err() != nil) {
		return nil, requestError(subject, err, tool.UnknownOutcome)
	}
	if req.Method == http.MethodHead && resp.StatusCode < 300 {
		return head(resp)
	}
	if to := resp.Header.Get("Location"); to != "" && !isRead(req.Method) && resp.StatusCode/100 == 3 {
		return &tool.Output{Text: resp.Status + ": the server points to " + to + ", which was not asked"}, nil
	}
	out, err := readable(body, resp.Header.Get("Content-Type"), resp.Request.URL)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, statusError(subject, resp, out)
	}
	switch {
	case err != nil && !isRead(req.Method):
		return &tool.Output{Text: resp.Status + ": the request succeeded, but its answer cannot be shown: " + err.Error()}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", subject, err)
	case out.Text == "" && out.Data == nil && !isRead(req.Method):
		out.Text = resp.Status
	}
	return out, nil
}

// statusError returns the error of a response with a failure status. The outcome is known
// even if the body is truncated.
func statusError(subject string, resp *http.Response, out *tool.Output) error {
	err := tool.Definite(fmt.Errorf("%s: %s", subject, statusText(resp.Status, out)))
	if httpclient.IsUnavailableStatus(resp.StatusCode) {
		return tool.Unavailable(err)
	}
	return err
}

// head returns the status and headers of a response, without cookies.
func head(resp *http.Response) (*tool.Output, error) {
	headers := make(map[string]string, len(resp.Header))
	for name, values := range resp.Header {
		if name != "Set-Cookie" {
			headers[name] = strings.Join(values, ", ")
		}
	}
	data, err := json.Marshal(map[string]any{"status": resp.StatusCode, "headers": headers})
	return &tool.Output{Data: data}, err
}

// requestError wraps the error of a request without repeating the URL. mark adds whether
// the request may have taken effect.
func requestError(subject string, err error, mark func(error) error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	marked := mark(fmt.Errorf("%s: %w", subject, err))
	if httpclient.IsUnavailable(err) {
		return tool.Unavailable(marked)
	}
	return marked
}

// anyServer removes an UnavailableError from the result of ask. If the model chose the
// server, its absence says nothing about the next call.
func anyServer(out *tool.Output, err error) (*tool.Output, error) {
	if down, ok := errors.AsType[*tool.UnavailableError](err); ok {
		return nil, down.Err
	}
	return out, err
}

// statusText returns a status with the start of the response body.
func statusText(status string, out *tool.Output) string {
	if out == nil {
		return status
	}
	body := text.Clip(cmp.Or(out.Text, string(out.Data)), maxRefusal)
	if body == "" {
		return status
	}
	return status + ": " + body
}

// readable converts a body into a form that a model can read: JSON is kept, HTML becomes
// text, and other content is an error.
func readable(body []byte, contentType string, at *url.URL) (*tool.Output, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, params, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	text := decoded(body, params["charset"])
	switch {
	case strings.HasSuffix(media, "json") && json.Valid(body):
		return &tool.Output{Data: bytes.TrimSpace(body)}, nil
	case media == "text/html" || media == "application/xhtml+xml":
		title, text := page.Text(text, at)
		if title != "" {
			text = "Title: " + title + "\n\n" + text
		}
		return &tool.Output{Text: text}, nil
	case isText(media) && bytes.IndexByte(body, 0) < 0:
		return &tool.Output{Text: text}, nil
	}
	return nil, fmt.Errorf("the response is %s (%s), which is not text", media, size(int64(len(body))))
}

func isText(media string) bool {
	if strings.HasPrefix(media, "text/") {
		return true
	}
	for _, word := range []string{"json", "xml", "yaml", "javascript", "toml", "x-ndjson", "csv", "sql"} {
		if strings.HasSuffix(media, word) {
			return true
		}
	}
	return false
}

// decoded converts a body to UTF-8. Of the other charsets only Latin-1 is supported,
// which most pages that are not UTF-8 use.
func decoded(body []byte, charset string) string {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "windows-1252", "us-ascii":
		runes := make([]rune, len(body))
		for i, b := range body {
			runes[i] = rune(b)
		}
		return string(runes)
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))), "\uFFFD")
}
