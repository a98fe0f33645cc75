package genai

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

const defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// chatModel is one LLM at one server.
type chatModel struct {
	config  Config
	name    string
	base    *url.URL
	keyless bool // there is no key, and the server requires one
	header  http.Header
	calls   modelhttp.Client
}

var _ model.Model = (*chatModel)(nil)

// Build builds a model with the process's transport.
func Build(c *Config, s model.Settings) (model.Model, error) {
	return New(c, s, nil)
}

// New builds a model that sends its requests as s says. change, if not nil, adapts the transport's settings (tests).
func New(c *Config, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	base, _ := address(s.BaseURL)
	headers := s.FromEnv(c.Headers)
	secrets := httpclient.SecretHeaders(headers)
	w, err := modelhttp.Connect(s, base.String(), secrets, change)
	if err != nil {
		return nil, err
	}
	m := &chatModel{
		config: *c, name: s.Model, base: base, header: header(s.APIKey, headers),
		keyless: s.APIKey == "" && base.String() == defaultBaseURL && len(secrets) == 0,
	}
	m.calls = modelhttp.Client{
		HTTP: w, Model: m.name, Type: m.typeError,
		Retryable: func(err error) bool { return errors.Is(err, errMalformedCall) },
	}
	return m, nil
}

var version = text.Regexp(`(^|/)v\d+[a-z]*\d*(/|$)`)

// address returns the base URL, with the API's version added if it has none.
func address(base string) (*url.URL, component.Faults) {
	u, faults := modelhttp.Address(cmp.Or(base, defaultBaseURL), "https://host/v1beta")
	if faults != nil {
		return nil, faults
	}
	if !version().MatchString(u.Path) {
		u = u.JoinPath("v1beta")
	}
	return u, nil
}

// header returns the headers of all requests. The author's headers override ours. The key is never part of the URL.
func header(key string, own map[string]string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		h.Set("X-Goog-Api-Key", key)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		h.Set(name, own[name])
	}
	return h
}

// Generate implements model.Model. If a stream fails it is retried like any other failure, and the deltas start again.
func (m *chatModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if m.keyless {
		return nil, m.noKey()
	}
	body, err := m.body(req)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
	}
	g := accumulator{Stream: modelhttp.Stream{Deltas: stream, Started: time.Now()}, request: req}
	return m.calls.Reply(ctx, req, func(ctx context.Context) (*model.Reply, error) { return m.attempt(ctx, body, g) })
}

func (m *chatModel) noKey() error {
	return &model.Error{Kind: model.AuthError, Message: "no API key for " + m.base.Host +
		": set the environment variable that api_key_env names (GEMINI_API_KEY by default)"}
}

// attempt makes one request, for a complete reply if there are no deltas. It has its own copy of g.
func (m *chatModel) attempt(ctx context.Context, body []byte, g accumulator) (*model.Reply, error) {
	resp, err := m.post(ctx, cmp.Or(g.request.Params.Model, m.name), g.Deltas != nil, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	if g.Deltas == nil || strings.HasPrefix(kind, "application/json") {
		return g.whole(resp.Body)
	}
	if err := g.stream(ctx, resp.Body); err != nil {
		return nil, err
	}
	if !g.received && kind != "" && !modelhttp.IsEventStream(kind) {
		return nil, modelhttp.Bad("the server sent %s instead of an event stream", kind)
	}
	return g.reply()
}

// post sends a request. HTTP error statuses are errors of the transport.
func (m *chatModel) post(ctx context.Context, name string, streamed bool, body []byte) (*http.Response, error) {
	u := m.base.JoinPath(modelPath(name) + ":generateContent")
	if streamed {
		u = m.base.JoinPath(modelPath(name) + ":streamGenerateContent")
		query := u.Query()
		query.Set("alt", "sse")
		u.RawQuery = query.Encode()
	}
	return m.calls.Post(ctx, u.String(), m.header.Clone(), body)
}

// modelPath returns the path of a model below the base. A name with a slash contains its collection, such as tunedModels/x.
func modelPath(name string) string {
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// whole reads a complete reply, or the list of chunks from a server that does not stream events.
func (g *accumulator) whole(from io.Reader) (*model.Reply, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	chunks, err := list(body)
	if err != nil {
		return nil, err
	}
	for _, p := range chunks {
		if err := g.add(p); err != nil {
			return nil, err
		}
	}
	if g.finish == "" && g.hasContent() {
		g.finish = finishStop
	}
	return g.reply()
}
