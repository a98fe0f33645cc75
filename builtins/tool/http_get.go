package tool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient"
)

// HTTPGetConfig configures http_get.
type HTTPGetConfig struct {
	AllowHosts []string                      `yaml:"allow_hosts" doc:"Hosts that may be called: host or host:port, with wildcards such as *.example.org. Empty: every host with a public address."`
	Headers    map[string]component.Template `yaml:"headers" vars:"parameters,env" doc:"Headers sent with each request. Requires allow_hosts, so that they are only sent to known hosts."`
	MaxBytes   int64                         `yaml:"max_bytes" min:"1" max:"67108864" doc:"Maximum response size in bytes, after decompression."`
}

// Access implements tool.AccessDescriber.
func (c *HTTPGetConfig) Access() []string { return hostAccess(c.AllowHosts) }

// HTTPGet fetches web pages and documents.
var HTTPGet = component.New("http_get", "Fetches a web page or document and returns it as text or JSON.",
	func() HTTPGetConfig { return HTTPGetConfig{MaxBytes: 4 << 20} }, newHTTPGet)

const httpGetInput = `{"type":"object","properties":{` +
	`"url":{"type":"string","description":"The full URL, starting with https:// or http://."}` +
	`},"required":["url"],"additionalProperties":false}`

type httpGet struct {
	info    tool.Info
	client  *http.Client
	headers map[string]component.Template
	env     func(string) string
	offline bool
}

var _ tool.Tool = (*httpGet)(nil)

func newHTTPGet(c *HTTPGetConfig, s tool.Settings) (tool.Tool, error) {
	if len(c.Headers) > 0 && open(c.AllowHosts) {
		return nil, errors.New("headers would be sent to any host that the model names; list their hosts in allow_hosts")
	}
	if err := checkHeaders(c.Headers).Err(); err != nil {
		return nil, err
	}
	tls, err := certificates(s, open(c.AllowHosts))
	if err != nil {
		return nil, err
	}
	t := &httpGet{headers: c.Headers, env: s.Env, offline: s.Offline, client: guardedClient(httpclient.GuardSettings{
		AllowHosts: c.AllowHosts, MaxBody: c.MaxBytes, UserAgent: s.UserAgent, TLS: tls,
	})}
	t.info = toolInfo(s, "http_get", "Fetches a web page, JSON or other text from a URL and returns it as readable text. "+reachText(c.AllowHosts), httpGetInput, tool.ReadEffect)
	return t, nil
}

// Info implements tool.Tool.
func (t *httpGet) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *httpGet) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[struct {
		URL string `json:"url"`
	}](ctx, call)
	if err != nil {
		return nil, err
	}
	u, err := address(args.URL)
	if err != nil {
		return nil, err
	}
	if t.offline {
		return nil, offline(t.info.Name)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("url %q cannot be fetched: %w", u.Redacted(), err)
	}
	req.Header.Set("Accept", acceptHeader)
	if err := setHeaders(req, t.headers, lookup(call, t.env)); err != nil {
		return nil, err
	}
	return anyServer(ask(t.client, req, "GET "+u.Redacted()))
}

// acceptHeader lists the media types that readable supports.
const acceptHeader = "text/html, application/json, text/*;q=0.9, */*;q=0.5"

// address parses a URL from the model. Whether it may be called is checked by the guard.
func address(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	var bad *url.Error
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("invalid url: %w", bad.Err)
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("url %q is not an http or https address; pass one such as https://example.com/page", u.Redacted())
	}
	return u, nil
}
