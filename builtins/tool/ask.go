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
	maxRefusal = 1000             // bytes of a refusal that are shown
	maxFetch   = 10 * time.Minute // the engine's timeout, in the context, is the shorter one
)

// offline is what a tool that needs the network answers without one.
func offline(name string) error {
	return fmt.Errorf("offline: pexctl test makes no network calls; give run.tools.%s or a cassette", name)
}

// noPrograms is what a tool that starts programs answers where none may be started.
func noPrograms(name string) error {
	return tool.Definite(fmt.Errorf("pexctl test --no-commands starts no programs; give run.tools.%s or a cassette", name))
}

// reads says whether a method changes nothing.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// effect is what calls with these methods do.
func effect(methods ...string) tool.Effect {
	if slices.ContainsFunc(methods, func(m string) bool { return !reads(m) }) {
		return tool.WriteEffect
	}
	return tool.ReadEffect
}

// certificates are those that a tool's environment names (PEX_CA_FILE and the
// like), as for models; where a model chooses the host, it is not shown the
// process's own. Who is offline needs none.
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

// guarded is a client behind the guard. It follows redirects of what reads; a
// write goes where its address says and nowhere else.
func guarded(g httpclient.GuardSettings) *http.Client {
	g.Timeout = maxFetch
	c := httpclient.NewGuarded(g)
	follow := c.CheckRedirect
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if !reads(via[0].Method) {
			return http.ErrUseLastResponse
		}
		return follow(req, via)
	}
	return c
}

// anyHost says whether an entry of allow_hosts names no host in particular.
func anyHost(entry string) bool {
	if host, _, err := net.SplitHostPort(entry); err == nil {
		entry = host
	}
	return strings.Trim(entry, "*.?[]") == ""
}

// open says whether hosts leave it to a model which server is asked.
func open(hosts []string) bool {
	return len(hosts) == 0 || slices.ContainsFunc(hosts, anyHost)
}

// reach is a sentence about the hosts that may be asked.
func reach(hosts []string) string {
	if len(hosts) == 0 {
		return "Reaches public addresses only."
	}
	return "Reaches only these hosts: " + strings.Join(hosts, ", ") + "."
}

// reaches is reach for an tool.AccessDescriber.
func reaches(hosts []string) []string {
	if len(hosts) == 0 {
		return []string{"connects to any public address that a model names"}
	}
	return []string{"connects to " + strings.Join(hosts, ", ")}
}

// setHeaders adds the author's headers; one of which nothing is left, because
// what it names is unset, is not sent.
func setHeaders(req *http.Request, headers map[string]component.Template, look component.Lookup) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := strings.TrimSpace(headers[name].Render(look))
		if !headerValue(value) {
			return fmt.Errorf("header %s would hold a line break or another control character", name)
		}
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return nil
}

// ask sends a request and makes its answer something that a model can read.
// subject names the request in errors. An error is an *tool.UnknownOutcomeError
// where the request was sent and no whole answer came, and an
// *tool.DefiniteError where it was not sent. That the server is not there is
// said by an *tool.UnavailableError: callers whose server a model chose take
// that off.
func ask(client *http.Client, req *http.Request, subject string) (*tool.Output, error) {
	var sent atomic.Bool // from here on the server may have read some of it
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	resp, err := client.Do(req)
	switch {
	case err != nil && sent.Load():
		return nil, askError(subject, err, tool.UnknownOutcome)
	case err != nil:
		return nil, askError(subject, err, tool.Definite)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if errors.Is(err, httpclient.ErrTooLarge) && !reads(req.Method) && resp.StatusCode < 300 {
		return &tool.Output{Text: resp.Status + ": the request succeeded; its answer is too large to be shown"}, nil
	}
	if err != nil && (resp.StatusCode < 300 || reads(req.Method) && req.Context().Err() != nil) {
		return nil, askError(subject, err, tool.UnknownOutcome)
	}
	if req.Method == http.MethodHead && resp.StatusCode < 300 {
		return head(resp)
	}
	if to := resp.Header.Get("Location"); to != "" && !reads(req.Method) && resp.StatusCode/100 == 3 {
		return &tool.Output{Text: resp.Status + ": the server points to " + to + ", which was not asked"}, nil
	}
	out, err := readable(body, resp.Header.Get("Content-Type"), resp.Request.URL)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, refused(subject, resp, out)
	}
	switch {
	case err != nil && !reads(req.Method):
		return &tool.Output{Text: resp.Status + ": the request succeeded, but its answer cannot be shown: " + err.Error()}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", subject, err)
	case out.Text == "" && out.Data == nil && !reads(req.Method):
		out.Text = resp.Status
	}
	return out, nil
}

// refused is the error of an answer whose status says no: a definite answer,
// also where the rest of it was cut off.
func refused(subject string, resp *http.Response, out *tool.Output) error {
	err := tool.Definite(fmt.Errorf("%s: %s", subject, refusal(resp.Status, out)))
	if httpclient.IsUnavailableStatus(resp.StatusCode) {
		return tool.Unavailable(err)
	}
	return err
}

// head is an answer without a body; cookies are nobody's business.
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

// askError says why nothing came back, without saying the address twice; mark
// says whether the request may have taken effect.
func askError(subject string, err error, mark func(error) error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	told := mark(fmt.Errorf("%s: %w", subject, err))
	if httpclient.IsUnavailable(err) {
		return tool.Unavailable(told)
	}
	return told
}

// anyServer is what ask gave where a model chose the server: that one is not
// there says nothing of the next.
func anyServer(out *tool.Output, err error) (*tool.Output, error) {
	if down, ok := errors.AsType[*tool.UnavailableError](err); ok {
		return nil, down.Err
	}
	return out, err
}

// refusal is a status with the start of what the server said.
func refusal(status string, out *tool.Output) string {
	if out == nil {
		return status
	}
	said := text.Clip(cmp.Or(out.Text, string(out.Data)), maxRefusal)
	if said == "" {
		return status
	}
	return status + ": " + said
}

// readable makes a body something that a model can read: JSON stays JSON,
// pages become text, and what is neither is an error.
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
	return nil, fmt.Errorf("the answer is %s (%s), which is not text", media, size(int64(len(body))))
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

// decoded is a body as UTF-8. Of the old charsets only Latin-1 is read, which
// is what most pages that are not UTF-8 are written in.
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
