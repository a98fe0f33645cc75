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
	return strings.ReplaceAll(url.QueryEscape(jsontemplate.Text(v)), "+", "%20")
}

// unset are the variables that a template cannot do without, and that are not set.
func (e *environment) unset(t component.Template) []string {
	own := &environment{get: e.get}
	own.study(func(look component.Lookup) { t.Render(look) })
	return slices.DeleteFunc(own.missing, func(name string) bool {
		return regexp.MustCompile(`env\s*\.\s*` + regexp.QuoteMeta(name) + `[^}>]*:-`).MatchString(t.Text)
	})
}

const addressLike = "https://host/path"

// address is where a request goes.
func (m *chatModel) address(values map[string]any) (string, error) {
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
		return "", errors.New("options.url, with base_url, is no http or https address: it looks like " + addressLike)
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

// secretsOf are the parts of a key that must never be shown.
func secretsOf(auth, key string) []string {
	if _, password, ok := strings.Cut(key, ":"); ok && auth == "basic" {
		return []string{key, password}
	}
	return []string{key}
}
