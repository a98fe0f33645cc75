package langchain

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/call"
)

// model is one llm of one backend.
type model struct {
	backend *backend
	config  Config
	base    *url.URL
	place   place
	key     string
	header  http.Header
	calls   call.Caller
}

var _ engine.Model = (*model)(nil)

// Build makes a model with the process's transport.
func Build(c *Config, s engine.ModelSettings) (engine.Model, error) {
	return New(c, s, nil)
}

// New makes a model that sends its requests as settings say; change, if not
// nil, may adapt the transport's settings first (tests).
func New(c *Config, s engine.ModelSettings, change func(*wire.Settings)) (engine.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	b := find(c.Backend)
	u, _ := b.address(s.BaseURL)
	account := s.FromEnv(map[string]component.Template{"": c.AccountID})[""]
	m := &model{
		backend: b, config: *c, base: u, key: s.APIKey, header: http.Header{},
		place: place{model: s.Model, account: account, inference: c.InferenceProvider},
	}
	headers := s.FromEnv(c.Headers)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if headers[name] != "" {
			m.header.Set(name, headers[name])
		}
	}
	w, err := call.Connect(s, u.JoinPath(account).String(), wire.SecretHeaders(headers), change)
	if err != nil {
		return nil, err
	}
	m.calls = call.Caller{Wire: w, Model: cmp.Or(s.Model, "of "+b.name), Type: m.typed}
	return m, nil
}
