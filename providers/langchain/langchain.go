package langchain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
	"github.com/tmc/langchaingo/llms/ernie"
)

// chatModel is one LLM at one server.
type chatModel struct {
	config Config
	base   *url.URL
	name   string
	key    string
	header http.Header
	calls  modelhttp.Client
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
	m := &chatModel{config: *c, base: base, name: s.Model, key: s.APIKey, header: http.Header{}}
	headers := s.FromEnv(c.Headers)
	for name, value := range headers {
		if value != "" {
			m.header.Set(name, value)
		}
	}
	w, err := modelhttp.Connect(s, base.String(), httpclient.SecretHeaders(headers), change)
	if err != nil {
		return nil, err
	}
	m.calls = modelhttp.Client{HTTP: w, Model: cmp.Or(s.Model, "of ernie"), Type: m.typeError}
	return m, nil
}

// Generate implements model.Model. The stream receives the reply as a single delta at the end.
func (m *chatModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	name := cmp.Or(req.Params.Model, m.name)
	if err := m.ready(req, name); err != nil {
		return nil, err
	}
	prompted := req
	if req.Schema != nil && m.config.StructuredOutput != "none" {
		prompted = modelhttp.AskForJSON(req)
	}
	out, err := m.calls.Reply(ctx, req, func(ctx context.Context) (*model.Reply, error) {
		x := &exchange{model: m, req: prompted, url: m.base.JoinPath(path(name))}
		return x.ask(ctx)
	})
	if err == nil && stream != nil && out.Text != "" {
		stream(model.Delta{Text: out.Text})
	}
	return out, err
}

// ready returns an error if a request cannot be sent.
func (m *chatModel) ready(req *model.Request, name string) error {
	_, rest := modelhttp.SplitSystem(req.Messages)
	if err := req.UnsupportedFiles("langchain"); err != nil {
		return err
	}
	switch {
	case len(req.Tools) > 0:
		return badRequest(errors.New("the provider langchain does not support tool calls: use executor.mode: react_text, or a provider that supports them (openai, ollama, anthropic, bedrock, googleai, mistral, or openai with the base_url of an OpenAI-compatible server)"))
	case m.key == "" && len(m.header) == 0:
		return &model.Error{Kind: model.AuthError, Message: "no API key for ernie: set " + keyVariable + ", or name another variable with api_key_env"}
	case req.Schema != nil && !json.Valid(req.Schema.Schema):
		return badRequest(errors.New("reply schema " + req.Schema.Name + " is not valid JSON"))
	case len(rest) == 0:
		return badRequest(errors.New("the request has no message except the system prompt"))
	case name == "":
		return badRequest(errors.New("no model is set: set model to the last part of its URL, such as completions_pro"))
	}
	return nil
}

func badRequest(err error) error {
	return &model.Error{Kind: model.BadRequest, Message: err.Error(), Err: err}
}

// path returns a model's path below the base URL. It accepts the vendor's names and langchaingo's.
func path(name string) string {
	known := map[string]string{
		ernie.ModelNameERNIEBot: "completions", ernie.ModelNameERNIEBotTurbo: "eb-instant", ernie.ModelNameERNIEBotPro: "completions_pro",
		ernie.ModelNameBloomz7B: "bloomz_7b1", ernie.ModelNameLlama2_7BChat: "llama_2_7b", ernie.ModelNameLlama2_13BChat: "llama_2_13b", ernie.ModelNameLlama2_70BChat: "llama_2_70b",
	}
	if path, ok := known[name]; ok {
		return "/" + path
	}
	return "/" + url.PathEscape(name)
}

// body encodes a request without the parameters that are not set.
func (m *chatModel) body(req *model.Request) ([]byte, error) {
	p, body := req.Params, map[string]any{}
	set := func(name string, value any, isSet bool) {
		if isSet {
			body[name] = value
		}
	}
	system, rest := modelhttp.SplitSystem(req.Messages)
	body["messages"] = turns(rest)
	set("system", strings.Join(system, "\n\n"), len(system) > 0)
	set("temperature", p.Temperature, p.Temperature != nil)
	set("top_p", p.TopP, p.TopP != nil)
	set("max_output_tokens", p.MaxOutputTokens, p.MaxOutputTokens > 0)
	set("stop", p.Stop, len(p.Stop) > 0)
	maps.Copy(body, m.config.ExtraBody)
	return json.Marshal(body)
}
