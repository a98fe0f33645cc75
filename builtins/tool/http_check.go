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

// settle makes the template of the body and finds what is wrong with the
// settings, each at its place.
func (t *httpTool) settle() component.Faults {
	c := &t.config
	out := slices.Concat(t.checkURL(), checkHeaders(c.Headers))
	out = append(out, t.settleBody()...)
	if open(c.AllowHosts) && len(c.AllowHosts) > 0 {
		out = append(out, component.Fault{At: "/allow_hosts", Message: "redirects could lead anywhere", Hint: "name the hosts"})
	}
	return append(out, c.undeclared()...)
}

// fromEnv stands for what only the environment of a run tells.
const fromEnv = "\uE003"

// checkURL finds what no call could mend. What hangs on the environment is
// told by the call: specs are also built where nobody is asked.
func (t *httpTool) checkURL() component.Faults {
	written := t.config.URL.Text
	fault := func(message, hint string) component.Faults {
		return component.Faults{{At: "/url", Message: message, Hint: hint}}
	}
	if strings.ContainsAny(written, openMark+shutMark+fromEnv) {
		return fault("url holds characters of Unicode's private use (U+E000 to U+E003), which mark values here", "")
	}
	if strings.Count(t.sample(`"`), `\"`) > strings.Count(written, `\"`) {
		return fault("url has a reference with |json, whose quotes are no part of an address", "leave out |json: what is no text is JSON by itself")
	}
	text, _, err := t.place.marked(func(string, string) (any, bool) { return fromEnv, true })
	server := text[:authority(text)]
	switch {
	case err != nil:
	case mark().MatchString(server):
		err = errChosenHost
	case !strings.Contains(server, fromEnv):
		_, err = t.place.fill(func(string, string) (any, bool) { return "x", true })
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errChosenHost):
		return fault(err.Error(), "write the host, or ${env.X}; for hosts of a model's choice there is http_request")
	case errors.Is(err, errUserInfo):
		return fault(err.Error(), "send it under headers, as Authorization")
	}
	return fault(err.Error(), addressLike)
}

// sample is the url with one value for all references.
func (t *httpTool) sample(value string) string {
	return t.config.URL.Render(func(string, string) (any, bool) { return value, true })
}

func (t *httpTool) settleBody() component.Faults {
	if t.config.Body.IsZero() {
		return nil
	}
	fault := func(message, hint string) component.Faults {
		return component.Faults{{At: "/body", Message: message, Hint: hint}}
	}
	if reads(t.config.Method) {
		return fault("method "+t.config.Method+" sends no body", "write method: POST, or put what is sent into query")
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

// sources are the settings that may refer to arguments.
func (c *HTTPConfig) sources() []source {
	out := []source{{at: "/url", text: c.URL.Text, visit: c.URL.Visit}}
	out = append(out, sources("/query", c.Query)...)
	out = append(out, sources("/headers", c.Headers)...)
	if !c.Body.IsZero() {
		out = append(out, source{at: "/body", text: string(c.Body.JSON), visit: func(l component.Lookup) { c.Body.Render(l) }})
	}
	return out
}

// undeclared finds references to arguments that an input_schema does not have.
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
