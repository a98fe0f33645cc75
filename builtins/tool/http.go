package tool

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient"
)

// HTTPConfig configures http.
type HTTPConfig struct {
	Method         string                        `yaml:"method" enum:"GET|HEAD|POST|PUT|PATCH|DELETE" doc:"HTTP method. Default: GET, or POST with a body. All methods except GET and HEAD count as writes unless effect is set."`
	URL            component.Template            `yaml:"url" required:"true" vars:"args,parameters,env" doc:"URL, such as https://host/items/${args.id}. Values are escaped and fill exactly one path segment or query value. The host may only use ${env.X}."`
	Headers        map[string]component.Template `yaml:"headers" vars:"args,parameters,env" doc:"Request headers, such as Authorization: Bearer ${env.TOKEN}. A header with an unset reference is not sent."`
	Query          map[string]component.Template `yaml:"query" vars:"args,parameters,env" doc:"Query parameters, escaped. A parameter with an unset reference is not sent."`
	Body           component.Value               `yaml:"body" vars:"args,parameters,env" doc:"Request body: a mapping, a list or JSON text. References become JSON values and are never pasted as text. A member with an unset reference is omitted."`
	InputSchema    component.SchemaRef           `yaml:"input_schema" doc:"JSON Schema of the arguments. Default: a string for each ${args.name} that is used."`
	ResponseFilter component.FilterRef           `yaml:"response_filter" doc:"JSONPath (RFC 9535) that selects what the model sees of the response. Default: all of it."`
	AllowHosts     []string                      `yaml:"allow_hosts" doc:"Hosts that redirects may lead to, in addition to the host of url: host or host:port, with wildcards such as *.example.org."`
	AllowPrivate   bool                          `yaml:"allow_private" doc:"Whether the hosts may have private addresses. An IP address or localhost in url is always allowed."`
	MaxBytes       int64                         `yaml:"max_bytes" min:"1" max:"67108864" doc:"Maximum response size in bytes, after decompression."`
}

// Access implements tool.AccessDescriber.
func (c *HTTPConfig) Access() []string { return tool.Connects(c.URL, c.AllowHosts) }

// HTTP calls a web service with a request that the author defines.
var HTTP = component.New("http", "Calls a web service. The author fixes the request; the model fills in arguments.",
	func() HTTPConfig { return HTTPConfig{MaxBytes: 4 << 20} }, newHTTP)

type httpTool struct {
	info    tool.Info
	config  HTTPConfig
	url     urlTemplate
	body    *jsontemplate.Template // nil = none
	env     func(string) string
	agent   string
	tls     *tls.Config // nil = the system's CAs
	offline bool
}

var _ tool.Tool = (*httpTool)(nil)

func newHTTP(c *HTTPConfig, s tool.Settings) (tool.Tool, error) {
	t := &httpTool{config: *c, url: newURLTemplate(c.URL), env: s.Env, agent: s.UserAgent, offline: s.Offline}
	if c.Method == "" {
		if t.config.Method = http.MethodGet; !c.Body.IsZero() {
			t.config.Method = http.MethodPost
		}
	}
	if err := t.compile().Err(); err != nil {
		return nil, err
	}
	var err error
	if t.tls, err = certificates(s, false); err != nil {
		return nil, err
	}
	input := string(c.InputSchema.JSON)
	if input == "" {
		input = inputSchema(c.sources())
	}
	t.info = toolInfo(s, "http", "Asks "+t.config.Method+" "+clip(c.URL.Text)+".", input, effect(t.config.Method))
	return t, nil
}

// Info implements tool.Tool.
func (t *httpTool) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *httpTool) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, tool.Definite(err)
	}
	if err := isObject(call.Args); err != nil {
		return nil, err
	}
	look := lookup(call, t.env)
	u, err := t.url.fill(look)
	if err != nil {
		return nil, err
	}
	appendQuery(u, t.query(look))
	req, err := t.request(ctx, u, look)
	if err != nil {
		return nil, err
	}
	setKey(req, call)
	if t.offline {
		return nil, offline(t.info.Name)
	}
	// Path and query may contain the author's keys, so errors only name the host.
	out, err := ask(t.client(u), req, t.config.Method+" "+u.Host)
	if err != nil {
		return nil, err
	}
	filtered, err := t.filter(out)
	if err != nil && !isRead(t.config.Method) {
		return nil, fmt.Errorf("the request succeeded, so do not repeat it, but its response cannot be used: %w", err)
	}
	return filtered, err
}

// query returns the query parameters that are set.
func (t *httpTool) query(look component.Lookup) url.Values {
	out := url.Values{}
	for name, value := range t.config.Query {
		lacks := false
		text := value.Render(func(ns, name string) (any, bool) {
			v, ok := look(ns, name)
			lacks = lacks || !ok || v == nil
			return v, ok
		})
		if text != "" || !lacks {
			out.Set(name, text)
		}
	}
	return out
}

func (t *httpTool) request(ctx context.Context, u *url.URL, look component.Lookup) (*http.Request, error) {
	var body []byte
	if t.body != nil {
		filled, err := t.body.Fill(look)
		if err != nil {
			return nil, err
		}
		if filled == nil {
			filled = map[string]any{}
		}
		if body, err = jsonvalue.Marshal(filled); err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, t.config.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, requestError(t.config.Method+" "+u.Host, err, tool.Definite)
	}
	req.Header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.5")
	if t.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, setHeaders(req, t.config.Headers, look)
}

// client returns an HTTP client that can reach the URL's host, which the author set, and
// the hosts that redirects may lead to.
func (t *httpTool) client(u *url.URL) *http.Client {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host := net.JoinHostPort(strings.TrimSuffix(u.Hostname(), "."), port)
	return guardedClient(httpclient.GuardSettings{
		AllowHosts: append([]string{host}, t.config.AllowHosts...), AllowPrivate: t.config.AllowPrivate,
		MaxBody: t.config.MaxBytes, UserAgent: t.agent, TLS: t.tls,
	})
}

// filter returns the part of the response that the author selects.
func (t *httpTool) filter(out *tool.Output) (*tool.Output, error) {
	path := t.config.ResponseFilter
	if path.IsZero() {
		return out, nil
	}
	text := []byte(cmp.Or(string(out.Data), out.Text))
	var v any
	if err := jsontemplate.Decode(text, &v); err != nil {
		return nil, errors.New("the response is not JSON, so response_filter cannot be applied: " + clip(string(text)))
	}
	found, err := path.Apply(v)
	if err != nil {
		return nil, fmt.Errorf("response_filter %s: %w", path.Source, err)
	}
	switch {
	case len(found) == 1 && single(path.Source):
		if s, ok := found[0].(string); ok {
			return &tool.Output{Text: s}, nil
		}
		return answer(found[0], "")
	case len(found) == 0 && single(path.Source):
		return nil, fmt.Errorf("response_filter %s matches nothing in the response: %s", path.Source, clip(string(text)))
	}
	return answer(found, "")
}
