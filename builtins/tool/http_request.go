package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient"
)

// HTTPRequestConfig configures http_request.
type HTTPRequestConfig struct {
	Methods      []string                      `yaml:"methods" min:"1" enum:"GET|HEAD|POST|PUT|PATCH|DELETE" doc:"Methods that the model may use. Default: GET and HEAD. Any other makes this a write tool and requires allow_hosts."`
	AllowHosts   []string                      `yaml:"allow_hosts" doc:"Hosts that may be called: host or host:port, with wildcards such as *.example.org. Empty: every host with a public address."`
	AllowPrivate bool                          `yaml:"allow_private" doc:"Whether hosts of allow_hosts may have private addresses. IP addresses and localhost in allow_hosts are always allowed."`
	Headers      map[string]component.Template `yaml:"headers" vars:"parameters,env" doc:"Headers sent with each request. The model cannot replace them. Requires allow_hosts, so that they are only sent to known hosts."`
	AllowHeaders []string                      `yaml:"allow_headers" doc:"Headers that the model may set in addition to Accept, Accept-Language, Content-Type, Prefer, Range and If-*."`
	MaxBytes     int64                         `yaml:"max_bytes" min:"1" max:"67108864" doc:"Maximum response size in bytes, after decompression."`
}

// Access implements tool.AccessDescriber.
func (c *HTTPRequestConfig) Access() []string { return hostAccess(c.AllowHosts) }

// HTTPRequest sends HTTP requests that the model defines.
var HTTPRequest = component.New("http_request", "Sends an HTTP request whose method, headers, query and body the model chooses.",
	func() HTTPRequestConfig {
		return HTTPRequestConfig{Methods: []string{http.MethodGet, http.MethodHead}, MaxBytes: 4 << 20}
	}, newHTTPRequest)

// modelHeaders are the headers that a model may set. They describe the content, not the
// sender.
var modelHeaders = []string{
	"Accept", "Accept-Language", "Content-Type", "Prefer", "Range",
	"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
}

type httpRequest struct {
	info    tool.Info
	config  HTTPRequestConfig
	allowed []string // headers that the model may set
	client  *http.Client
	env     func(string) string
	offline bool
}

var _ tool.Tool = (*httpRequest)(nil)

func newHTTPRequest(c *HTTPRequestConfig, s tool.Settings) (tool.Tool, error) {
	if err := c.check().Err(); err != nil {
		return nil, err
	}
	t := &httpRequest{config: *c, env: s.Env, offline: s.Offline, allowed: slices.Clone(modelHeaders)}
	for _, name := range c.AllowHeaders {
		t.allowed = append(t.allowed, http.CanonicalHeaderKey(name))
	}
	tls, err := certificates(s, open(c.AllowHosts))
	if err != nil {
		return nil, err
	}
	t.client = guardedClient(httpclient.GuardSettings{
		AllowHosts: c.AllowHosts, AllowPrivate: c.AllowPrivate, MaxBody: c.MaxBytes, UserAgent: s.UserAgent, TLS: tls,
	})
	t.info = toolInfo(s, "http_request", "Sends an HTTP request to a web service and returns the response as JSON or text. "+reachText(c.AllowHosts), c.input(), effect(c.Methods...))
	return t, nil
}

// check returns faults for settings that would give the model more access than intended.
func (c *HTTPRequestConfig) check() (out component.Faults) {
	fault := func(at, message, hint string) {
		out = append(out, component.Fault{At: at, Message: message, Hint: hint})
	}
	if open(c.AllowHosts) {
		const hint = "list their hosts in allow_hosts"
		if effect(c.Methods...) == tool.WriteEffect {
			fault("/methods", "write requests would be sent to any host that the model names", hint)
		}
		if len(c.Headers) > 0 {
			fault("/headers", "headers would be sent to any host that the model names", hint)
		}
		if c.AllowPrivate {
			fault("/allow_private", "any private host could be called", "list the permitted hosts in allow_hosts")
		}
	}
	out = append(out, checkHeaders(c.Headers)...)
	for i, name := range c.AllowHeaders {
		if !headerName(name) || slices.Contains(framing, http.CanonicalHeaderKey(name)) {
			fault(fmt.Sprintf("/allow_headers/%d", i), "the model cannot set the header "+clip(name), "remove it")
		}
	}
	return out
}

// input returns the input schema, which shows the model only what the settings allow.
func (c *HTTPRequestConfig) input() string {
	text := func(s string) map[string]any { return map[string]any{"type": "string", "description": s} }
	properties := map[string]any{
		"url":     text("The full URL, starting with https:// or http://."),
		"method":  map[string]any{"type": "string", "enum": c.Methods, "description": "HTTP method (default: " + c.Methods[0] + ")."},
		"headers": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": "Additional request headers, such as Accept."},
		"query":   map[string]any{"type": "object", "description": "Query parameters, escaped. A list repeats the parameter once per value."},
	}
	if effect(c.Methods...) == tool.WriteEffect {
		properties["body"] = map[string]any{"description": "Request body: an object or list is sent as JSON, a string as is."}
	}
	// Strings, lists and maps of them always marshal.
	out, _ := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": []string{"url"}, "additionalProperties": false,
	})
	return string(out)
}

type httpRequestArgs struct {
	Method  string                     `json:"method"`
	URL     string                     `json:"url"`
	Headers map[string]string          `json:"headers"`
	Query   map[string]json.RawMessage `json:"query"`
	Body    json.RawMessage            `json:"body"`
}

// Info implements tool.Tool.
func (t *httpRequest) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *httpRequest) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[httpRequestArgs](ctx, call)
	if err != nil {
		return nil, err
	}
	args.Method = cmp.Or(strings.ToUpper(args.Method), t.config.Methods[0])
	if !slices.Contains(t.config.Methods, args.Method) {
		return nil, fmt.Errorf("method %q is not allowed; allowed methods: %s", clip(args.Method), strings.Join(t.config.Methods, ", "))
	}
	u, err := address(args.URL)
	if err != nil {
		return nil, err
	}
	if err := addQuery(u, args.Query); err != nil {
		return nil, err
	}
	req, err := args.request(ctx, u)
	if err != nil {
		return nil, err
	}
	if err := t.headers(req, args.Headers, lookup(call, t.env)); err != nil {
		return nil, err
	}
	setKey(req, call)
	if t.offline {
		return nil, offline(t.info.Name)
	}
	out, err := anyServer(ask(t.client, req, args.Method+" "+u.Redacted()))
	if err != nil && isRead(args.Method) {
		err = tool.Definite(errors.New(err.Error())) // also if the tool as a whole can write
	}
	return out, err
}

// request returns the request without headers.
func (a *httpRequestArgs) request(ctx context.Context, u *url.URL) (*http.Request, error) {
	body, kind := []byte(a.Body), "application/json"
	var text string
	switch {
	case string(body) == "null":
		body = nil
	case json.Unmarshal(body, &text) == nil:
		if body = []byte(text); !json.Valid(body) {
			kind = "text/plain; charset=utf-8"
		}
	}
	if len(body) > 0 && isRead(a.Method) {
		return nil, fmt.Errorf("%s requests have no body; pass the values as query", a.Method)
	}
	req, err := http.NewRequestWithContext(ctx, a.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("invalid url %q: %w", u.Redacted(), err)
	}
	req.Header.Set("Accept", acceptHeader)
	if len(body) > 0 {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

// headers sets the model's permitted headers, then the author's, which take precedence.
func (t *httpRequest) headers(req *http.Request, model map[string]string, look component.Lookup) error {
	for _, name := range slices.Sorted(maps.Keys(model)) {
		key := http.CanonicalHeaderKey(name)
		if !slices.Contains(t.allowed, key) {
			return fmt.Errorf("header %q is not allowed; allowed headers: %s", clip(name), strings.Join(t.allowed, ", "))
		}
		if !headerValue(model[name]) {
			return fmt.Errorf("header %s contains a line break or another control character", key)
		}
		req.Header.Set(key, model[name])
	}
	return setHeaders(req, t.config.Headers, look)
}

// addQuery appends parameters to those in the URL.
func addQuery(u *url.URL, query map[string]json.RawMessage) error {
	values := url.Values{}
	for name, raw := range query {
		list := []json.RawMessage{raw}
		if raw[0] == '[' {
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
		}
		for _, item := range list {
			var text string
			switch {
			case item[0] == '{' || item[0] == '[':
				return errors.New(`argument "query" contains an object; its values must be strings, numbers, booleans, or lists of these`)
			case string(item) == "null":
				continue
			case json.Unmarshal(item, &text) != nil:
				text = string(item)
			}
			values.Add(name, text)
		}
	}
	appendQuery(u, values)
	return nil
}

// appendQuery appends parameters, sorted by name.
func appendQuery(u *url.URL, values url.Values) {
	if len(values) > 0 {
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+values.Encode(), "&")
	}
}
