package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/wire"
)

// HTTPGetConfig is the settings of http_get.
type HTTPGetConfig struct {
	AllowHosts []string                      `yaml:"allow_hosts" doc:"Hosts that may be asked: host or host:port, with * as in *.example.org. Empty = every host at a public address."`
	Headers    map[string]component.Template `yaml:"headers" vars:"parameters,env" doc:"Headers sent with each request; needs allow_hosts, so that no model can send them elsewhere."`
	MaxBytes   int64                         `yaml:"max_bytes" min:"1" max:"67108864" doc:"The largest answer that is read, counted after decompression."`
}

// HTTPGet fetches pages and documents.
var HTTPGet = component.New("http_get", "Fetches a web page or document and gives it as text or JSON.",
	func() HTTPGetConfig { return HTTPGetConfig{MaxBytes: 4 << 20} }, newHTTPGet)

const httpGetInput = `{"type":"object","properties":{` +
	`"url":{"type":"string","description":"The whole address, starting with https:// or http://."}` +
	`},"required":["url"],"additionalProperties":false}`

const (
	maxRefusal = 1000             // bytes of a refusal that are shown
	maxFetch   = 10 * time.Minute // the engine's timeout, in the context, is the shorter one
)

var errOffline = errors.New("offline: pexctl test makes no network calls; give run.tools.http_get or a cassette")

type httpGet struct {
	info    engine.ToolInfo
	client  *http.Client
	headers map[string]component.Template
	env     func(string) string
	offline bool
}

var _ engine.Tool = (*httpGet)(nil)

func newHTTPGet(c *HTTPGetConfig, s engine.ToolSettings) (engine.Tool, error) {
	if len(c.Headers) > 0 && (len(c.AllowHosts) == 0 || slices.ContainsFunc(c.AllowHosts, anyHost)) {
		return nil, errors.New("headers would go to any host that a model names: list the hosts they are for under allow_hosts")
	}
	t := &httpGet{headers: c.Headers, env: s.Env, offline: s.Offline, client: wire.NewGuarded(wire.GuardSettings{
		AllowHosts: c.AllowHosts, MaxBody: c.MaxBytes, Timeout: maxFetch, UserAgent: s.UserAgent,
	})}
	where := "Reaches public addresses only."
	if len(c.AllowHosts) > 0 {
		where = "Reaches only these hosts: " + strings.Join(c.AllowHosts, ", ") + "."
	}
	t.info = about(s, "http_get", "Fetches a web page, JSON or other text by its address and gives it as readable text. "+where, httpGetInput, engine.ReadEffect)
	return t, nil
}

// anyHost says whether an entry of allow_hosts names no host in particular.
func anyHost(entry string) bool {
	host, _, _ := strings.Cut(entry, ":")
	return strings.Trim(host, "*.?") == ""
}

// Info implements engine.Tool.
func (t *httpGet) Info() engine.ToolInfo { return t.info }

// Call implements engine.Tool.
func (t *httpGet) Call(ctx context.Context, call *engine.Call) (*engine.ToolOutput, error) {
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
		return nil, errOffline
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("url %q cannot be fetched: %w", u.Redacted(), err)
	}
	req.Header.Set("Accept", "text/html, application/json, text/*;q=0.9, */*;q=0.5")
	look := lookup(call, t.env)
	for name, value := range t.headers {
		req.Header.Set(name, value.Render(look))
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, fetchError(u, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil && (resp.StatusCode < 300 || ctx.Err() != nil) {
		return nil, fetchError(u, err)
	}
	out, err := readable(body, resp.Header.Get("Content-Type"), resp.Request.URL)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, fmt.Errorf("GET %s: %s", u.Redacted(), refusal(resp.Status, out))
	}
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", u.Redacted(), err)
	}
	return out, nil
}

// address checks what a model passed; where it leads is the guard's business.
func address(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	var bad *url.Error
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("the url cannot be read: %w", bad.Err)
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("url %q is no web address; pass one such as https://example.com/page", u.Redacted())
	}
	return u, nil
}

// fetchError says why nothing came back, without saying the address twice.
func fetchError(u *url.URL, err error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	return fmt.Errorf("GET %s: %w", u.Redacted(), err)
}

// refusal is a status with the start of what the server said.
func refusal(status string, out *engine.ToolOutput) string {
	if out == nil {
		return status
	}
	said := cmp.Or(out.Text, string(out.Data))
	if len(said) > maxRefusal {
		said = strings.ToValidUTF8(said[:maxRefusal], "") + "…"
	}
	if said == "" {
		return status
	}
	return status + ": " + said
}
