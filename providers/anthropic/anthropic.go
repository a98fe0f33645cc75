package anthropic

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

const (
	defaultBaseURL = "https://api.anthropic.com"
	path           = "v1/messages"
)

// model is one llm at one server.
type chatModel struct {
	config  Config
	name    string
	base    string
	keyless bool // no key, and the server is known to want one
	options []option.RequestOption
	calls   modelhttp.Client
	looked  atomic.Pointer[looked] // the reply schema that was asked for last
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
	u, _ := address(s.BaseURL)
	base := u.String()
	headers := s.FromEnv(c.Headers)
	secrets := httpclient.SecretHeaders(headers)
	w, err := modelhttp.Connect(s, base, secrets, change)
	if err != nil {
		return nil, err
	}
	m := &chatModel{config: *c, name: s.Model, base: base}
	m.calls = modelhttp.Client{HTTP: w, Model: m.name, Type: m.typed}
	m.keyless = s.APIKey == "" && base == defaultBaseURL && len(secrets) == 0
	m.options = options(m, s, headers)
	return m, nil
}

// options are the SDK's: everything it would do on its own account is off.
func options(m *chatModel, s model.Settings, headers map[string]string) []option.RequestOption {
	out := []option.RequestOption{
		option.WithBaseURL(m.base + "/"),
		option.WithHTTPClient(m.calls.HTTP.HTTP()),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
	}
	if s.APIKey != "" {
		out = append(out, option.WithAPIKey(s.APIKey))
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		out = append(out, option.WithHeader(name, headers[name]))
	}
	return out
}

// Generate implements model.Model. A stream that breaks off is repeated like
// any other failure, and its deltas then come again from the start.
func (m *chatModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if m.keyless {
		return nil, m.noKey()
	}
	a, err := m.ask(req)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
	}
	started := time.Now()
	return m.calls.Reply(ctx, req, func(ctx context.Context) (*model.Reply, error) {
		if stream == nil {
			return m.whole(ctx, a)
		}
		return m.stream(ctx, a, started, stream)
	})
}

func (m *chatModel) noKey() error {
	return &model.Error{Kind: model.AuthError, Message: "no API key for " + m.base +
		": set the environment variable that api_key_env names (ANTHROPIC_API_KEY by default), or base_url for a server that needs none"}
}

// post sends a request. The SDK's client is made for each: one that a model kept
// would bring every method of every service of the API into the binary.
func (m *chatModel) post(ctx context.Context, a *ask, into any, more ...option.RequestOption) error {
	client := sdk.Client{Options: m.options}
	return client.Post(ctx, path, a.params, into, more...)
}

// whole asks for the reply at once.
func (m *chatModel) whole(ctx context.Context, a *ask) (*model.Reply, error) {
	var body []byte
	if err := m.post(ctx, a, &body); err != nil {
		return nil, err
	}
	return a.answer(body)
}

// stream asks for the reply in pieces.
func (m *chatModel) stream(ctx context.Context, a *ask, started time.Time, to func(model.Delta)) (*model.Reply, error) {
	var resp *http.Response
	if err := m.post(ctx, a, &resp, option.WithJSONSet("stream", true)); err != nil {
		return nil, err
	}
	kind := resp.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "application/json") {
		defer resp.Body.Close()
		return a.unstreamed(resp.Body, to)
	}
	events := ssestream.NewDecoder(resp)
	defer func() { _ = events.Close() }() // its errors are those of Err
	g := gather{Stream: modelhttp.Stream{Deltas: to, Started: started}, ask: a}
	for !g.done && events.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := g.add(events.Event()); err != nil {
			return nil, err
		}
	}
	if err := events.Err(); err != nil && !g.done {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !g.seen && kind != "" && !strings.HasPrefix(kind, "text/event-stream") {
		return nil, modelhttp.Bad("the server sent %s where an event stream was asked for", kind)
	}
	return g.reply()
}

// unstreamed reads the answer of a server that does not stream though asked to.
func (a *ask) unstreamed(from io.Reader, to func(model.Delta)) (*model.Reply, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	out, err := a.answer(body)
	if err == nil && out.Text != "" {
		to(model.Delta{Text: out.Text})
	}
	return out, err
}
