package openai

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

const defaultBaseURL = "https://api.openai.com/v1"

// model is one llm at one server.
type chatModel struct {
	config     Config
	dialect    dialect
	name       string
	keyless    bool // no key, and the server is known to want one
	chat       sdk.ChatCompletionService
	embeddings sdk.EmbeddingService
	calls      modelhttp.Client
	looked     atomic.Pointer[looked] // the reply schema that was asked for last
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
	d := dialect{base: u.String(), legacy: u.Hostname() != "api.openai.com"}
	if d.base == defaultBaseURL {
		d.wantsKey = noKey("OPENAI_API_KEY")
	}
	if c.LegacyMaxTokens != nil {
		d.legacy = *c.LegacyMaxTokens
	}
	d.hint = func(e *model.Error, m string) string {
		if e.Kind != model.NotFound {
			return ""
		}
		if strings.HasSuffix(strings.TrimSuffix(d.base, "/"), "/v1") {
			return fmt.Sprintf("asked %s for model %s", d.base, m)
		}
		return fmt.Sprintf("asked %s for model %s; base_url usually ends in /v1", d.base, m)
	}
	return connect(*c, s, d, change)
}

// connect makes a model of a server of a dialect.
func connect(c Config, s model.Settings, d dialect, change func(*httpclient.Settings)) (model.Model, error) {
	headers := s.FromEnv(c.Headers)
	secrets := httpclient.SecretHeaders(headers)
	w, err := modelhttp.Connect(s, d.base, secrets, change)
	if err != nil {
		return nil, err
	}
	m := &chatModel{config: c, dialect: d, name: cmp.Or(d.model, s.Model)}
	m.calls = modelhttp.Client{HTTP: w, Model: m.name, Type: typed, Explain: m.tell}
	m.keyless = s.APIKey == "" && d.wantsKey != "" && len(secrets) == 0
	opts := options(m, s, headers)
	m.chat, m.embeddings = sdk.NewChatCompletionService(opts...), sdk.NewEmbeddingService(opts...)
	return m, nil
}

// options are the SDK's: everything it would do on its own account is off.
func options(m *chatModel, s model.Settings, headers map[string]string) []option.RequestOption {
	out := []option.RequestOption{
		option.WithBaseURL(m.dialect.base + "/"),
		option.WithHTTPClient(m.calls.HTTP.HTTP()),
		option.WithMaxRetries(0),
	}
	switch {
	case s.APIKey == "":
	case m.dialect.keyHeader != "":
		out = append(out, option.WithHeader(m.dialect.keyHeader, s.APIKey))
	default:
		out = append(out, option.WithAPIKey(s.APIKey))
	}
	if m.config.Organization != "" {
		out = append(out, option.WithOrganization(m.config.Organization))
	}
	if m.config.Project != "" {
		out = append(out, option.WithProject(m.config.Project))
	}
	out = append(out, m.dialect.options...)
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
	params, err := m.params(req, stream != nil)
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
	}
	started := time.Now()
	return m.calls.Reply(ctx, req, func(ctx context.Context) (*model.Reply, error) {
		out, err := m.attempt(ctx, req, params, started, stream)
		if err == nil {
			return out, nil
		}
		if out = filtered(ctx, req, err); out != nil {
			return out, nil
		}
		return nil, err
	})
}

// attempt makes one request, for a whole reply where stream is nil.
func (m *chatModel) attempt(ctx context.Context, req *model.Request, params sdk.ChatCompletionNewParams, started time.Time, stream func(model.Delta)) (*model.Reply, error) {
	if stream == nil {
		return m.whole(ctx, req, params)
	}
	return m.stream(ctx, req, params, started, stream)
}

func (m *chatModel) noKey() error {
	return &model.Error{Kind: model.AuthError, Message: "no API key for " + m.dialect.base + ": " + m.dialect.wantsKey}
}

// whole asks for the reply at once.
func (m *chatModel) whole(ctx context.Context, req *model.Request, params sdk.ChatCompletionNewParams) (*model.Reply, error) {
	var body []byte
	if _, err := m.chat.New(ctx, params, option.WithResponseBodyInto(&body), key(req)); err != nil {
		return nil, err
	}
	return answer(body)
}

// stream asks for the reply in pieces.
func (m *chatModel) stream(ctx context.Context, req *model.Request, params sdk.ChatCompletionNewParams, started time.Time, to func(model.Delta)) (*model.Reply, error) {
	var resp *http.Response
	events := m.chat.NewStreaming(ctx, params, option.WithResponseInto(&resp), key(req))
	defer func() { _ = events.Close() }() // its errors are those of Err
	if strings.HasPrefix(contentType(resp), "application/json") {
		return unstreamed(resp.Body, to)
	}
	g := gather{Stream: modelhttp.Stream{Deltas: to, Started: started}}
	for events.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := g.add(events.Current()); err != nil {
			return nil, err
		}
	}
	if err := events.Err(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if kind := contentType(resp); !g.seen && kind != "" && !strings.HasPrefix(kind, "text/event-stream") {
		return nil, modelhttp.Bad("the server sent %s where an event stream was asked for", kind)
	}
	return g.reply()
}

func contentType(resp *http.Response) string {
	if resp == nil {
		return ""
	}
	return resp.Header.Get("Content-Type")
}

// unstreamed reads the answer of a server that does not stream though asked to.
func unstreamed(from io.Reader, to func(model.Delta)) (*model.Reply, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	out, err := answer(body)
	if err == nil && out.Text != "" {
		to(model.Delta{Text: out.Text})
	}
	return out, err
}

// key lets the server recognise a request that it has had before.
func key(req *model.Request) option.RequestOption {
	if req.Key == "" {
		return option.WithHeaderDel("Idempotency-Key")
	}
	return option.WithHeader("Idempotency-Key", req.Key)
}
