package http_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/providers/http"
)

// The compiler binds references in templates and paths. Providers must not import it, so these functions replace it.
// internal/e2e uses the real one.

var reference = regexp.MustCompile(`\$\{(\w+)\.([\w.]+)(?:\|(json))?(?::-([^}]*))?\}`)

// text fills a text like the compiler's templates.
func text(source string) func(component.Lookup) string {
	return func(l component.Lookup) string {
		return reference.ReplaceAllStringFunc(source, func(s string) string {
			m := reference.FindStringSubmatch(s)
			v, ok := l(m[1], m[2])
			switch {
			case !ok || v == nil:
				return m[4]
			case m[3] == "json":
				return marshal(v)
			}
			if s, ok := v.(string); ok {
				return s
			}
			return marshal(v)
		})
	}
}

func marshal(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// template returns a bound component.Template.
func template(source string) component.Template {
	t := component.Template{Text: source}
	t.Bind(func(l component.Lookup) []string { return []string{text(source)(l)} })
	return t
}

// value returns a bound component.Value from JSON.
func value(t testing.TB, source string) component.Value {
	t.Helper()
	var tree any
	d := json.NewDecoder(strings.NewReader(source))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		t.Fatalf("%v: %s", err, source)
	}
	v := component.Value{JSON: json.RawMessage(source)}
	v.Bind(func(l component.Lookup) any { return filled(tree, l) })
	return v
}

func filled(tree any, l component.Lookup) any {
	switch v := tree.(type) {
	case string:
		if m := reference.FindStringSubmatch(v); m != nil && m[0] == v && m[3] == "" {
			if found, ok := l(m[1], m[2]); ok || m[4] == "" {
				return found
			}
			return m[4]
		}
		return text(v)(l)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = filled(v[i], l)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = filled(v[key], l)
		}
		return out
	}
	return tree
}

// member returns a bound component.FilterRef that follows names and indexes.
func member(path ...any) component.FilterRef {
	f := component.FilterRef{Source: "$"}
	f.Bind(func(v any) ([]any, error) {
		for _, step := range path {
			switch s := step.(type) {
			case string:
				o, _ := v.(map[string]any)
				v = o[s]
			case int:
				l, _ := v.([]any)
				if s >= len(l) {
					return nil, nil
				}
				v = l[s]
			}
			if v == nil {
				return nil, nil
			}
		}
		return []any{v}, nil
	})
	return f
}

func defaults() http.Config { return *http.HTTP.Config().(*http.Config) }

// of returns the default config with an interface.
func of(name string) http.Config {
	c := defaults()
	c.LLMInterface = name
	return c
}
