package http

import (
	"errors"
	"maps"
	nethttp "net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) component.Faults {
	_, out := prepare(c, s)
	return out
}

// prepare builds the model from the options and settings. It sends nothing; the model is
// usable only without faults.
func prepare(c *Config, s model.Settings) (m *chatModel, out component.Faults) {
	m = &chatModel{
		config: *c, name: s.Model, key: s.APIKey, base: strings.TrimSuffix(s.BaseURL, "/"),
		env: &environment{get: s.Env}, uses: map[string]bool{},
	}
	if u, err := url.Parse(m.base); err == nil {
		if pass, ok := u.User.Password(); ok {
			m.env.secrets = append(m.env.secrets, pass)
		}
	}
	if m.config.Method == "" {
		m.config.Method = nethttp.MethodPost
	}
	if m.config.Auth == "" && s.APIKey != "" {
		m.config.Auth = "bearer"
	}
	out = append(out, m.prepareInterface()...)
	out = append(out, m.checkAddress()...)
	out = append(out, modelhttp.CheckHeaders(c.Headers)...)
	return m, append(out, m.prepareBody()...)
}

func (m *chatModel) prepareInterface() component.Faults {
	var err error
	if m.dialect, err = interfaceOf(&m.config, m.base); err != nil {
		m.dialect = plain{}
		return component.Faults{{At: modelhttp.At("llm_interface"), Message: err.Error()}}
	}
	return nil
}

// checkAddress checks the URL. Unset variables are reported by the call, since specs are
// also built without calling.
func (m *chatModel) checkAddress() component.Faults {
	text := m.config.URL.Text
	below := text == "" || strings.HasPrefix(text, "/")
	if m.base == "" && below {
		return component.Faults{{At: modelhttp.AtBaseURL, Message: "the http provider has no URL", Hint: "set options.url or base_url"}}
	}
	var out component.Faults
	switch {
	case m.base == "":
	case below:
		_, out = modelhttp.AddressWithoutQuery(m.base, addressLike)
	default:
		_, out = modelhttp.Address(m.base, addressLike)
	}
	m.env.addVariables(func(look component.Lookup) { m.config.URL.Render(look) })
	m.missingVariables = m.env.missingIn(m.config.URL)
	if len(m.missingVariables) > 0 || below && out != nil || text == "" {
		return out
	}
	if _, err := m.address(map[string]any{"model": m.name}); err != nil {
		out = append(out, component.Fault{At: modelhttp.At("url"), Message: err.Error()})
	}
	return out
}

// prepareBody builds the body template and checks that it contains the prompt.
func (m *chatModel) prepareBody() component.Faults {
	fault := func(at, message, hint string) component.Faults {
		return component.Faults{{At: modelhttp.At(at), Message: message, Hint: hint}}
	}
	switch get, none := m.config.Method == nethttp.MethodGet, m.config.RequestBody.IsZero(); {
	case !none && get:
		return fault("method", "method GET has no body", "put the prompt into options.url, or remove options.method")
	case none && !get && m.config.LLMInterface == "":
		return fault("request_body", "neither request_body nor llm_interface is set", "set options.request_body or options.llm_interface")
	case !none:
		var err error
		if m.template, err = bodyTemplate(m.config.RequestBody); err != nil {
			return fault("request_body", err.Error(), "")
		}
	}
	if out := m.unknownReferences(); out != nil {
		return out
	}
	if m.template == nil && m.config.LLMInterface != "" {
		return nil
	}
	if !m.uses["prompt"] && !m.uses["messages"] {
		at := "request_body"
		if m.template == nil {
			at = "url"
		}
		return fault(at, "options."+at+" uses neither ${args.prompt} nor ${args.messages}, so the model would receive no prompt", "")
	}
	if m.template == nil {
		return nil
	}
	for _, sample := range []map[string]any{{}, samples()} {
		if _, err := m.template.Object(m.env.lookup(sample, nil)); err != nil {
			return fault("request_body", err.Error(), "")
		}
	}
	return nil
}

// bodyTemplate returns the template of request_body. It rejects a list, which no endpoint accepts.
func bodyTemplate(v component.Value) (*jsontemplate.Template, error) {
	t, err := jsontemplate.New("options.request_body", v)
	if err != nil {
		return nil, err
	}
	if _, list := t.Written().([]any); list {
		return nil, errors.New("options.request_body is neither a mapping nor JSON text")
	}
	return t, nil
}

// unknownReferences reports references to unknown names, and records the names that are used.
func (m *chatModel) unknownReferences() (out component.Faults) {
	look := func(at string, written any, render func(component.Lookup)) {
		for _, name := range slices.Sorted(slices.Values(jsontemplate.Names(render))) {
			if m.uses[name] = true; slices.Contains(references, name) {
				continue
			}
			out = append(out, component.Fault{
				At:      modelhttp.At(at) + findText(written, regexp.MustCompile(`\bargs\s*\.\s*`+regexp.QuoteMeta(name)+`\b`)),
				Message: "unknown reference ${args." + name + "}", Hint: "the names are " + strings.Join(references, ", "),
			})
		}
	}
	look("url", m.config.URL.Text, func(l component.Lookup) { m.config.URL.Render(l) })
	if m.template != nil {
		render := m.template.Visit
		look("request_body", m.template.Written(), render)
		m.env.addVariables(render)
	}
	return out
}

// findText returns the JSON pointer of the first matching string in a tree; "" = the tree
// itself, or none.
func findText(tree any, what *regexp.Regexp) string {
	at, _ := search(tree, what)
	return at
}

func search(tree any, what *regexp.Regexp) (at string, ok bool) {
	switch t := tree.(type) {
	case string:
		return "", what.MatchString(t)
	case []any:
		for i, v := range t {
			if at, ok := search(v, what); ok {
				return "/" + strconv.Itoa(i) + at, true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			if at, ok := search(t[key], what); ok {
				return component.Key(key) + at, true
			}
		}
	}
	return "", false
}

// samples returns sample values for all names.
func samples() map[string]any {
	out := make(map[string]any, len(references))
	for _, name := range references {
		out[name] = "a \"quoted\"\nword"
	}
	return out
}
