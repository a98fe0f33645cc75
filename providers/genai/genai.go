package genai

import (
	"bytes"
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

// model is one llm at one server.
type chatModel struct {
	config  Config
	name    string
	base    *url.URL
	keyless bool // no key, and the server is known to want one
	header  http.Header
	calls   modelhttp.Client
}

var _ model.Model = (*chatModel)(nil)

// Build makes a model with the process's transport.
func Build(c *Config, s model.Settings) (model.Model, error) {
	return New(c, s, nil)
}

// New makes a model that sends its requests as settings say; change, if not
// nil, may adapt the transport's settings first (tests).
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
		HTTP: w, Model: m.name, Type: m.typed,
		Retryable: func(err error) bool { return errors.Is(err, errUnlucky) },
	}
	return m, nil
}

var version = text.Regexp(`(^|/)v\d+[a-z]*\d*(/|$)`)

// address is where the models are: base, with the API's version where it names none.
func address(base string) (*url.URL, component.Faults) {
	u, wrong := modelhttp.Address(cmp.Or(base, defaultBaseURL), "https://host/v1beta")
	if wrong != nil {
		return nil, wrong
	}
	if !version().MatchString(u.Path) {
		u = u.JoinPath("v1beta")
	}
	return u, nil
}

// header is sent with each request; the author's headers go last. The key is
// never part of an address.
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

// Generate implements model.Model. A stream that breaks off is repeated like
// any other failure, and its deltas then come again from the start.
func (m *chatModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if m.keyless {
		return nil, m.noKey()
	}
	body, err := m.body(req)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
	}
	g := gather{Stream: modelhttp.Stream{Deltas: stream, Started: time.Now()}, request: req}
	return m.calls.Reply(ctx, req, func(ctx context.Context) (*model.Reply, error) { return m.attempt(ctx, body, g) })
}

func (m *chatModel) noKey() error {
	return &model.Error{Kind: model.AuthError, Message: "no API key for " + m.base.Host +
		": set the environment variable that api_key_env names (GEMINI_API_KEY by default)"}
}

// attempt makes one request, for a whole reply where nobody wants deltas. What
// g gathers is the attempt's own.
func (m *chatModel) attempt(ctx context.Context, body []byte, g gather) (*model.Reply, error) {
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
	if !g.seen && kind != "" && !strings.HasPrefix(kind, "text/event-stream") {
		return nil, modelhttp.Bad("the server sent %s where an event stream was asked for", kind)
	}
	return g.reply()
}

// post sends a body to a model; refusals are errors of the transport.
func (m *chatModel) post(ctx context.Context, name string, streamed bool, body []byte) (*http.Response, error) {
	u := m.base.JoinPath(place(name) + ":generateContent")
	if streamed {
		u = m.base.JoinPath(place(name) + ":streamGenerateContent")
		query := u.Query()
		query.Set("alt", "sse")
		u.RawQuery = query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = m.header.Clone()
	return m.calls.HTTP.HTTP().Do(req)
}

// place is where a model stands below the base: names of other collections
// (tunedModels/x) say it themselves.
func place(name string) string {
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// whole reads a body that is the reply, or, from a server that streams no
// events though asked to, the list of its pieces.
func (g *gather) whole(from io.Reader) (*model.Reply, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	pieces, err := list(body)
	if err != nil {
		return nil, err
	}
	for _, p := range pieces {
		if err := g.add(p); err != nil {
			return nil, err
		}
	}
	if g.finish == "" && g.said() {
		g.finish = stopped
	}
	return g.reply()
}
