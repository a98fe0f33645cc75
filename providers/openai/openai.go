package openai

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

const defaultBaseURL = "https://api.openai.com/v1"

// chatModel is the model of one LLM at one server.
type chatModel struct {
	config     Config
	dialect    dialect
	name       string
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
	d := dialect{base: u.String(), legacy: u.Hostname() != "api.openai.com"}
	if d.base == defaultBaseURL {
		d.missingKey = noKey("OPENAI_API_KEY")
	}
	if c.LegacyMaxTokens != nil {
		d.legacy = *c.LegacyMaxTokens
	}
	d.hint = func(e *model.Error, m string) string {
		if e.Kind != model.NotFound {
			return ""
		}
		if strings.HasSuffix(strings.TrimSuffix(d.base, "/"), "/v1") {
			return fmt.Sprintf("requested model %s from %s", m, d.base)
		}
		return fmt.Sprintf("requested model %s from %s; base_url usually ends in /v1", m, d.base)
	}
	return connect(*c, s, d, change)
}

// connect returns a model of a server with a dialect.
func connect(c Config, s model.Settings, d dialect, change func(*httpclient.Settings)) (model.Model, error) {
	headers := s.FromEnv(c.Headers)
	secrets := httpclient.SecretHeaders(headers)
	w, err := modelhttp.Connect(s, d.base, secrets, change)
	if err != nil {
		return nil, err
	}
	m := &chatModel{config: c, dialect: d, name: cmp.Or(d.model, s.Model), header: header(c, s.APIKey, d.keyHeader, headers)}
	m.calls = modelhttp.Client{HTTP: w, Model: m.name, Type: typed, Explain: m.explain}
	m.keyless = s.APIKey == "" && d.missingKey != "" && len(secrets) == 0
	return m, nil
}

// header returns the header of each request. The user's own headers take precedence.
func header(c Config, apiKey, keyHeader string, own map[string]string) http.Header {
	h := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}
	set := func(name, value string) {
		if value != "" {
			h.Set(name, value)
		}
	}
	switch {
	case apiKey == "":
	case keyHeader != "":
		h.Set(keyHeader, apiKey)
	default:
		h.Set("Authorization", "Bearer "+apiKey)
	}
	set("OpenAI-Organization", c.Organization)
	set("OpenAI-Project", c.Project)
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
	body, err := m.body(req, stream != nil)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
	}
	started := time.Now()
	return m.calls.Reply(ctx, req, func(ctx context.Context) (out *model.Reply, err error) {
		if stream == nil {
			out, err = m.whole(ctx, req.Key, body)
		} else {
			out, err = m.stream(ctx, req.Key, body, modelhttp.Stream{Deltas: stream, Started: started})
		}
		if err == nil {
			return out, nil
		}
		if out = filtered(ctx, req, err); out != nil {
			return out, nil
		}
		return nil, err
	})
}

func (m *chatModel) noKey() error {
	return &model.Error{Kind: model.AuthError, Message: "no API key for " + m.dialect.base + ": " + m.dialect.missingKey}
}

// post sends a request to an endpoint of the API. The key, if not "", lets the server
// recognize a repeated request.
func (m *chatModel) post(ctx context.Context, endpoint, key string, body []byte) (*http.Response, error) {
	to := m.dialect.base + "/" + endpoint
	if v := m.dialect.apiVersion; v != "" {
		to += "?api-version=" + url.QueryEscape(v)
	}
	h := m.header.Clone()
	if key != "" {
		h.Set("Idempotency-Key", key)
	}
	return m.calls.Post(ctx, to, h, body)
}

// read sends a request and returns the body of the response.
func (m *chatModel) read(ctx context.Context, endpoint, key string, body []byte) ([]byte, error) {
	resp, err := m.post(ctx, endpoint, key, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

const chatCompletions = "chat/completions"

// whole requests a reply that is not streamed.
func (m *chatModel) whole(ctx context.Context, key string, body []byte) (*model.Reply, error) {
	raw, err := m.read(ctx, chatCompletions, key, body)
	if err != nil {
		return nil, err
	}
	return parseReply(raw)
}

// stream requests a streamed reply. Some servers send it whole nevertheless.
func (m *chatModel) stream(ctx context.Context, key string, body []byte, to modelhttp.Stream) (*model.Reply, error) {
	resp, err := m.post(ctx, chatCompletions, key, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "application/json") {
		return unstreamed(resp.Body, to.Deltas)
	}
	a := accumulator{Stream: to}
	for event, err := range modelhttp.Events(resp.Body) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && string(event.Data) == "[DONE]" {
			break
		}
		if err == nil {
			err = a.add(event.Data)
		}
		if err != nil {
			return nil, err
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

// unstreamed reads a whole reply and passes its text on as one delta.
func unstreamed(from io.Reader, to func(model.Delta)) (*model.Reply, error) {
	raw, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	out, err := parseReply(raw)
	if err == nil && out.Text != "" {
		to(model.Delta{Text: out.Text})
	}
	return out, err
}
