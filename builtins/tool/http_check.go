package tool

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsontemplate"
)

const addressLike = "it looks like https://host/path/${args.id}"

// compile compiles the body template and returns the faults of all settings.
func (t *httpTool) compile() component.Faults {
	c := &t.config
	out := slices.Concat(t.checkURL(), checkHeaders(c.Headers))
	out = append(out, t.compileBody()...)
	if open(c.AllowHosts) && len(c.AllowHosts) > 0 {
		out = append(out, component.Fault{At: "/allow_hosts", Message: "redirects could lead to any host", Hint: "list the hosts"})
	}
	return append(out, c.undeclared()...)
}

// fromEnv is a placeholder for values from the environment of a run.
const fromEnv = "\uE003"

// checkURL returns faults that no call could avoid. Faults that depend on the environment
// are reported by the call, because specs are also compiled where it is not available.
func (t *httpTool) checkURL() component.Faults {
	written := t.config.URL.Text
	fault := func(message, hint string) component.Faults {
		return component.Faults{{At: "/url", Message: message, Hint: hint}}
	}
	if strings.ContainsAny(written, openMark+shutMark+fromEnv) {
		return fault("url contains reserved characters (U+E000 to U+E003)", "")
	}
	if strings.Count(t.sample(`"`), `\"`) > strings.Count(written, `\"`) {
		return fault("url has a reference with |json, which would add quotes to the URL", "remove |json; values other than strings are rendered as JSON without it")
	}
	text, _, err := t.url.renderMarked(func(string, string) (any, bool) { return fromEnv, true })
	server := text[:authorityEnd(text)]
	switch {
	case err != nil:
	case mark().MatchString(server):
		err = errChosenHost
	case !strings.Contains(server, fromEnv):
		_, err = t.url.fill(func(string, string) (any, bool) { return "x", true })
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errChosenHost):
		return fault(err.Error(), "write the host, or ${env.X}; to let the model choose the host, use http_request")
	case errors.Is(err, errUserInfo):
		return fault(err.Error(), "send it in headers, as Authorization")
	}
	return fault(err.Error(), addressLike)
}

// sample renders the URL with the same value for all references.
func (t *httpTool) sample(value string) string {
	return t.config.URL.Render(func(string, string) (any, bool) { return value, true })
}

func (t *httpTool) compileBody() component.Faults {
	if t.config.Body.IsZero() {
		return nil
	}
	fault := func(message, hint string) component.Faults {
		return component.Faults{{At: "/body", Message: message, Hint: hint}}
	}
	if isRead(t.config.Method) {
		return fault("method "+t.config.Method+" has no body", "write method: POST, or move the body to query")
	}
	var err error
	if t.body, err = jsontemplate.New("body", t.config.Body); err != nil {
		return fault(err.Error(), "")
	}
	for _, found := range []bool{true, false} {
		if _, err := t.body.Fill(func(string, string) (any, bool) { return "x", found }); err != nil {
			return fault(err.Error(), `write it as a mapping: body: {name: "${args.name}"}`)
		}
	}
	return nil
}

// sources returns the settings that may reference arguments.
func (c *HTTPConfig) sources() []source {
	out := []source{{at: "/url", text: c.URL.Text, visit: c.URL.Visit}}
	out = append(out, sources("/query", c.Query)...)
	out = append(out, sources("/headers", c.Headers)...)
	if !c.Body.IsZero() {
		out = append(out, source{at: "/body", text: string(c.Body.JSON), visit: func(l component.Lookup) { c.Body.Render(l) }})
	}
	return out
}

// undeclared returns references to arguments that input_schema does not declare.
func (c *HTTPConfig) undeclared() (out component.Faults) {
	var schema struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal(c.InputSchema.JSON, &schema) != nil || schema.Properties == nil {
		return nil
	}
	for _, s := range c.sources() {
		for _, name := range s.arguments() {
			if _, ok := schema.Properties[name]; !ok {
				out = append(out, component.Fault{At: s.at, Message: "input_schema has no argument " + name, Hint: "declare it under properties"})
			}
		}
	}
	return out
}
