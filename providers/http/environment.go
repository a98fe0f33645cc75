package http

import (
	"encoding/base64"
	"errors"
	"maps"
	nethttp "net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/internal/httpclient"
)

// environment looks up variables for templates, and records which are missing and which are secret.
type environment struct {
	get     func(string) string
	missing []string
	secrets []string
}

// lookup returns values for ${args.X}, converted by spell if not nil, and variables for
// ${env.X}.
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

// addVariables records the variables that a template uses.
func (e *environment) addVariables(render func(component.Lookup)) {
	look := e.lookup(nil, nil)
	render(func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if ns == "env" && !ok && !slices.Contains(e.missing, name) {
			e.missing = append(e.missing, name)
		}
		if text, _ := v.(string); ok && httpclient.SecretName(name) {
			e.secrets = append(e.secrets, text)
		}
		return v, ok
	})
}

// headers renders the author's headers. A header that is empty because its variables are
// unset is not sent.
func (e *environment) headers(templates map[string]component.Template) map[string]string {
	out := make(map[string]string, len(templates))
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		t := templates[name]
		e.addVariables(func(look component.Lookup) { t.Render(look) })
		v := strings.TrimSpace(t.Render(e.lookup(nil, nil)))
		if v == "" {
			continue
		}
		if out[name] = v; httpclient.SecretName(name) {
			_, bare, _ := strings.Cut(v, " ")
			e.secrets = append(e.secrets, v, bare)
		}
	}
	return out
}

// escapeValue escapes a value for a URL, so that it cannot end a part of it.
func escapeValue(v any) string {
	return strings.ReplaceAll(url.QueryEscape(jsontemplate.Text(v)), "+", "%20")
}

// missingIn returns the unset variables that a template requires.
func (e *environment) missingIn(t component.Template) []string {
	own := &environment{get: e.get}
	own.addVariables(func(look component.Lookup) { t.Render(look) })
	return slices.DeleteFunc(own.missing, func(name string) bool {
		return regexp.MustCompile(`env\s*\.\s*` + regexp.QuoteMeta(name) + `[^}>]*:-`).MatchString(t.Text)
	})
}

const addressLike = "https://host/path"

// address returns the URL of a request.
func (m *chatModel) address(values map[string]any) (string, error) {
	if len(m.missingVariables) > 0 {
		return "", errors.New("options.url uses variables that are not set in the environment: " + strings.Join(m.missingVariables, ", "))
	}
	where := m.config.URL.Render(m.env.lookup(values, escapeValue))
	switch {
	case where == "":
		name, _ := values["model"].(string)
		where = m.base + m.dialect.path(name)
	case strings.HasPrefix(where, "/"):
		where = m.base + where
	}
	u, err := url.Parse(where)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("options.url, with base_url, is not an http or https URL; write one such as " + addressLike)
	}
	return where, nil
}

func (m *chatModel) authorize(r *nethttp.Request) {
	switch m.config.Auth {
	case "bearer":
		r.Header.Set("Authorization", "Bearer "+m.key)
	case "basic":
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(m.key)))
	}
}

// secretsOf returns the parts of a key that must be redacted.
func secretsOf(auth, key string) []string {
	if _, password, ok := strings.Cut(key, ":"); ok && auth == "basic" {
		return []string{key, password}
	}
	return []string{key}
}
