package http

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	nethttp "net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/wire"
)

// environment reads variables for templates, and remembers which of them are
// missing and which hold what must never be shown.
type environment struct {
	get     func(string) string
	missing []string
	secrets []string
}

// lookup finds values for ${args.X}, each changed by spell where that is not
// nil, and variables for ${env.X}.
func (e *environment) lookup(values map[string]any, spell func(any) string) component.Lookup {
	return func(ns, name string) (any, bool) {
		var v any
		switch ns {
		case "env":
			if e.get == nil {
				return nil, false
			}
			text := e.get(name)
			return text, text != ""
		case "args":
			v = values[name]
		}
		if v != nil && spell != nil {
			v = spell(v)
		}
		return v, v != nil
	}
}

// study notes what a template takes from the environment.
func (e *environment) study(render func(component.Lookup)) {
	look := e.lookup(nil, nil)
	render(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if ns == "env" && !ok && !slices.Contains(e.missing, name) {
			e.missing = append(e.missing, name)
		}
		if text, _ := v.(string); ok && wire.SecretName(name) {
			e.secrets = append(e.secrets, text)
		}
		return v, ok
	})
}

// headers renders the author's headers. One whose variables are not set, so
// that nothing is left of it, is not sent.
func (e *environment) headers(templates map[string]component.Template) map[string]string {
	out := make(map[string]string, len(templates))
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		t := templates[name]
		e.study(func(look component.Lookup) { t.Render(look) })
		v := strings.TrimSpace(t.Render(e.lookup(nil, nil)))
		if v == "" {
			continue
		}
		if out[name] = v; wire.SecretName(name) {
			_, bare, _ := strings.Cut(v, " ")
			e.secrets = append(e.secrets, v, bare)
		}
	}
	return out
}

// escaped is a value within an address: nothing in it can end a part of one.
func escaped(v any) string {
	return strings.ReplaceAll(url.QueryEscape(plainText(v)), "+", "%20")
}

// unset are the variables that a template cannot do without, and that are not set.
func (e *environment) unset(t component.Template) []string {
	own := &environment{get: e.get}
	own.study(func(look component.Lookup) { t.Render(look) })
	return slices.DeleteFunc(own.missing, func(name string) bool {
		return regexp.MustCompile(`env\s*\.\s*` + regexp.QuoteMeta(name) + `[^}>]*:-`).MatchString(t.Text)
	})
}

// address is where a request goes.
func (m *model) address(values map[string]any) (string, error) {
	if len(m.lacks) > 0 {
		return "", errors.New("options.url is not whole, not set in the environment: " + strings.Join(m.lacks, ", "))
	}
	where := m.config.URL.Render(m.env.lookup(values, escaped))
	switch {
	case where == "":
		name, _ := values["model"].(string)
		where = m.base + m.dialect.path(name)
	case strings.HasPrefix(where, "/"):
		where = m.base + where
	}
	u, err := url.Parse(where)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("options.url, with base_url, is no http or https address: it looks like https://host/path")
	}
	return where, nil
}

// check says what is wrong with the options, as far as they alone tell.
func (m *model) check(s engine.ModelSettings) error {
	c := &m.config
	m.base = strings.TrimSuffix(s.BaseURL, "/")
	if u, err := url.Parse(m.base); err == nil {
		if pass, ok := u.User.Password(); ok {
			m.env.secrets = append(m.env.secrets, pass)
		}
	}
	if c.Method == "" {
		c.Method = nethttp.MethodPost
	}
	if c.Auth == "" && s.APIKey != "" {
		c.Auth = "bearer"
	}
	if m.base == "" && (c.URL.Text == "" || strings.HasPrefix(c.URL.Text, "/")) {
		return errors.New("the http provider asks nobody: write options.url, or base_url")
	}
	m.env.study(func(look component.Lookup) { c.URL.Render(look) })
	if m.lacks = m.env.unset(c.URL); len(m.lacks) == 0 { // else the call says so: specs are also built where nobody is asked
		if _, err := m.address(map[string]any{"model": s.Model}); err != nil {
			return err
		}
	}
	if m.template == nil && c.LLMInterface == "" && c.Method != nethttp.MethodGet {
		return errors.New("nothing says what is sent: write options.request_body, or options.llm_interface")
	}
	if m.template != nil && c.Method == nethttp.MethodGet {
		return errors.New("method GET sends no body: put what is sent into options.url, or leave out options.method")
	}
	return m.checkReferences()
}

// checkReferences wants names that exist, and a body that asks something.
func (m *model) checkReferences() error {
	all := names(func(look component.Lookup) { m.config.URL.Render(look) })
	if m.template != nil {
		render := func(look component.Lookup) { m.template.value.Render(look) }
		all = append(all, names(render)...)
		m.env.study(render)
	}
	for _, name := range all {
		if !slices.Contains(references, name) {
			return fmt.Errorf("there is no ${args.%s}: there are %s", name, strings.Join(references, ", "))
		}
		m.uses[name] = true
	}
	if m.template == nil && m.config.LLMInterface != "" {
		return nil
	}
	if !m.uses["prompt"] && !m.uses["messages"] {
		return errors.New("the model would be asked nothing: options.request_body names neither ${args.prompt} nor ${args.messages}")
	}
	if m.template == nil {
		return nil
	}
	for _, sample := range []map[string]any{{}, samples()} {
		if _, err := m.template.fill(m.env.lookup(sample, nil)); err != nil {
			return err
		}
	}
	return nil
}

// samples are values for all names.
func samples() map[string]any {
	out := make(map[string]any, len(references))
	for _, name := range references {
		out[name] = "a \"quoted\"\nword"
	}
	return out
}

func (m *model) authorize(r *nethttp.Request) {
	switch m.config.Auth {
	case "bearer":
		r.Header.Set("Authorization", "Bearer "+m.key)
	case "basic":
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(m.key)))
	}
}

// secretsOf are the parts of a key that must never be shown.
func secretsOf(auth, key string) []string {
	if _, password, ok := strings.Cut(key, ":"); ok && auth == "basic" {
		return []string{key, password}
	}
	return []string{key}
}
