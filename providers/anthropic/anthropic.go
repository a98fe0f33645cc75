package anthropic

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

const (
	defaultBaseURL = "https://api.anthropic.com"
	path           = "v1/messages"
	apiVersion     = "2023-06-01"
)

// chatModel is the model of one LLM at one server.
type chatModel struct {
	config     Config
	name       string
	base       string
	keyless    bool // the server requires a key, and there is none
	header     http.Header
	calls      modelhttp.Client
	lastSchema atomic.Pointer[schemaCheck]
}

var _ model.Model = (*chatModel)(nil)

// Build returns a model that uses the process's connections.
func Build(c *Config, s model.Settings) (model.Model, error) {
	return New(c, s, nil)
}

// New returns a model. change, if not nil, adapts the transport's settings (tests).
func New(c *Config, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	u, _ := address(s.BaseURL)
	base := u.String()
	headers := s.FromEnv(c.Headers)
	secrets := httpclient.SecretHeaders(headers)
	w, err := modelhttp.Connect(s, base, secrets, change)
	if err != nil {
		return nil, err
	}
	m := &chatModel{config: *c, name: s.Model, base: base, header: header(s.APIKey, headers)}
	m.calls = modelhttp.Client{HTTP: w, Model: m.name, Type: m.typed}
	m.keyless = s.APIKey == "" && base == defaultBaseURL && len(secrets) == 0
	return m, nil
}

// header returns the header of each request. The user's own headers take precedence.
func header(apiKey string, own map[string]string) http.Header {
	h := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "Anthropic-Version": {apiVersion}}
	if apiKey != "" {
		h.Set("X-Api-Key", apiKey)
	}
	for name, value := range own {
		h.Set(name, value)
	}
	return h
}

// Generate implements model.Model. A stream that breaks off is retried like any other
// failure; its deltas then start again from the beginning.
func (m *chatModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if m.keyless {
		return nil, m.noKey()
	}
	p, err := m.prepare(req, stream != nil)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
	}
	started := time.Now()
	return m.calls.Reply(ctx, req, func(ctx context.Context) (*model.Reply, error) {
		resp, err := m.calls.Post(ctx, m.base+"/"+path, m.header.Clone(), p.encoded)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if stream == nil {
			return p.whole(resp.Body)
		}
		return p.stream(ctx, resp, modelhttp.Stream{Deltas: stream, Started: started})
	})
}

func (m *chatModel) noKey() error {
	return &model.Error{Kind: model.AuthError, Message: "no API key for " + m.base +
		": set the environment variable that api_key_env names (ANTHROPIC_API_KEY by default), or base_url for a server that needs none"}
}

// whole reads a reply that is not streamed.
func (p *prepared) whole(from io.Reader) (*model.Reply, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	return p.parseReply(body)
}

// stream reads a streamed reply. Some servers send it whole nevertheless.
func (p *prepared) stream(ctx context.Context, resp *http.Response, to modelhttp.Stream) (*model.Reply, error) {
	kind := resp.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "application/json") {
		out, err := p.whole(resp.Body)
		if err == nil && out.Text != "" {
			to.Deltas(model.Delta{Text: out.Text})
		}
		return out, err
	}
	a := accumulator{Stream: to, prepared: p}
	for event, err := range modelhttp.Events(resp.Body) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = a.add(event)
		}
		if err != nil {
			return nil, err
		}
		if a.complete {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !a.started && kind != "" && !modelhttp.IsEventStream(kind) {
		return nil, modelhttp.Bad("the server sent %s instead of an event stream", kind)
	}
	return a.reply()
}
