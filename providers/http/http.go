package http

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	nethttp "net/http"

	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// chatModel is an LLM behind an endpoint.
type chatModel struct {
	config           Config
	dialect          dialect
	name             string
	key              string
	base             string // base_url without a trailing slash
	env              *environment
	missingVariables []string // unset variables in the URL
	headers          map[string]string
	template         *jsontemplate.Template // nil = the dialect's body
	uses             map[string]bool
	calls            modelhttp.Client
}

var _ model.Model = (*chatModel)(nil)

// Build returns a model with the default transport.
func Build(c *Config, s model.Settings) (model.Model, error) {
	return New(c, s, nil)
}

// New returns a model; change, if not nil, adapts the transport's settings (tests).
func New(c *Config, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	m, faults := prepare(c, s)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	m.headers = m.env.headers(c.Headers)
	w, err := modelhttp.Connect(s, m.base+c.URL.Text, append(m.env.secrets, secretsOf(c.Auth, s.APIKey)...), change)
	if err != nil {
		return nil, err
	}
	m.calls = modelhttp.Client{HTTP: w, Model: cmp.Or(m.name, "of the http provider"), Type: m.typedError}
	return m, nil
}

// Generate implements model.Model. The endpoint does not stream; the stream receives the reply as a single delta at the
// end.
func (m *chatModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if req.Params.Model == "" {
		named := *req
		named.Params.Model = m.name
		req = &named
	}
	if err := req.UnsupportedFiles("http"); err != nil {
		return nil, err
	}
	where, body, err := m.write(req)
	if err != nil {
		return nil, err
	}
	var got *rawReply
	out, err := m.calls.Reply(ctx, req, func(ctx context.Context) (_ *model.Reply, err error) {
		if got, err = m.attempt(ctx, req, where, body); err != nil {
			return nil, err
		}
		return got.reply()
	})
	if err != nil {
		return nil, err
	}
	if d := (model.Delta{Text: out.Text, Reasoning: got.reasoning}); stream != nil && d != (model.Delta{}) {
		stream(d)
	}
	return out, nil
}

// attempt sends one request and parses the response.
func (m *chatModel) attempt(ctx context.Context, req *model.Request, where string, body []byte) (*rawReply, error) {
	r, err := nethttp.NewRequestWithContext(ctx, m.config.Method, where, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json")
	if req.Key != "" {
		r.Header.Set("Idempotency-Key", req.Key)
	}
	m.authorize(r)
	for name, value := range maps.All(m.headers) {
		r.Header.Set(name, value)
	}
	resp, err := m.calls.HTTP.HTTP().Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := m.read(req, resp.Header.Get("Content-Type"), text)
	if err == nil && out.id == "" {
		out.id = cmp.Or(resp.Header.Get("X-Amzn-Requestid"), resp.Header.Get("X-Request-Id"))
	}
	return out, err
}

// write returns the URL and the body of a request.
func (m *chatModel) write(req *model.Request) (where string, body []byte, err error) {
	if err := m.ready(req); err != nil {
		return "", nil, err
	}
	if s := req.Schema; s != nil && !json.Valid(s.Schema) {
		return "", nil, badRequest(fmt.Errorf("reply schema %s is not valid JSON", s.Name))
	}
	if !m.nativeSchema() && req.Schema != nil {
		req = modelhttp.AskForJSON(req)
	}
	values, err := m.values(req)
	if err != nil {
		return "", nil, badRequest(err)
	}
	if where, err = m.address(values); err != nil {
		return "", nil, badRequest(err)
	}
	if m.config.Method == nethttp.MethodGet {
		return where, nil, nil
	}
	fields := m.dialect.body(values)
	if m.template != nil {
		if fields, err = m.template.Object(m.env.lookup(values, nil)); err != nil {
			return "", nil, badRequest(err)
		}
	}
	maps.Copy(fields, m.config.ExtraBody)
	if body, err = jsonvalue.Marshal(fields); err != nil {
		return "", nil, badRequest(err)
	}
	return where, body, nil
}

// ready returns an error if a request cannot be sent to this endpoint.
func (m *chatModel) ready(req *model.Request) error {
	p := req.Params
	left := func(name string, set bool) bool { return set && m.template != nil && !m.uses[name] }
	switch {
	case m.key == "" && (m.config.Auth == "bearer" || m.config.Auth == "basic"):
		return &model.Error{Kind: model.AuthError, Message: "no key for auth: " + m.config.Auth + ": set the environment variable that api_key_env names"}
	case len(req.Tools) > 0 && !m.dialect.traits().toolCalls:
		return badRequest(errors.New("text in, text out: this endpoint does not support tool calls; use executor.mode: react_text, or set options.llm_interface"))
	case left("tools", len(req.Tools) > 0) && !m.dialect.traits().prompted:
		return badRequest(errors.New("the request has tools, but options.request_body does not use ${args.tools}"))
	case left("temperature", p.Temperature != nil):
		return unsent("temperature")
	case left("top_p", p.TopP != nil):
		return unsent("top_p")
	case left("stop", len(p.Stop) > 0):
		return unsent("stop")
	}
	return nil
}

func unsent(name string) error {
	return badRequest(fmt.Errorf("the llm sets %s, but options.request_body does not use ${args.%s}; add it, or remove %s", name, name, name))
}

func badRequest(err error) error {
	return &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
}
