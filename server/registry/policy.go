package registry

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/host"
)

// Policy is what registered agents may reach. Its zero value allows only the usual addresses of
// the providers of models, with their usual keys.
type Policy struct {
	// Endpoints are the starts of URLs that models and tools may call.
	Endpoints []string
	// Env are the environment variables that registered bodies may name.
	Env []string
}

var (
	providers = []string{"anthropic", "azure_openai", "bedrock", "googleai", "http", "openai"}
	toolTypes = []string{"builtin", "http", "mcp"}
	region    = text.Regexp(`^[a-z0-9-]+$`)
	ofEnv     = text.Regexp(`^\$\{env\.[A-Za-z_][A-Za-z0-9_]*\}(/[^$]*)?$`)
)

// check returns an error unless a program may run, and the overrides with which its tools reach
// what is allowed.
func (p *Policy) check(of *engine.Program) (private []string, err error) {
	var source struct {
		LLMs  map[string]map[string]any `json:"llms"`
		Tools map[string]map[string]any `json:"tools"`
	}
	if err := json.Unmarshal(of.Source, &source); err != nil {
		return nil, err
	}
	if err := p.checkVariables(of.Source); err != nil {
		return nil, err
	}
	for name, llm := range source.LLMs {
		options, _ := llm["options"].(map[string]any)
		provider, _ := llm["provider"].(string)
		place, _ := options["region"].(string)
		switch {
		case !slices.Contains(providers, provider):
			return nil, invalid("llms.%s: registered agents cannot use the provider %s", name, provider)
		case place != "" && !region().MatchString(place):
			return nil, invalid("llms.%s: %q is not a region", name, place)
		}
		for _, address := range []any{llm["base_url"], options["url"], options["base_url"]} {
			if err := p.checkAddress("llms."+name, address); err != nil {
				return nil, err
			}
		}
	}
	for name, t := range source.Tools {
		typ, _ := t["type"].(string)
		if !slices.Contains(toolTypes, typ) || t["command"] != nil {
			return nil, invalid("tools.%s: registered agents cannot use tools of type %s", name, typ)
		}
		if err := p.checkAddress("tools."+name, t["url"]); err != nil {
			return nil, err
		}
		if t["url"] != nil {
			private = append(private, "tools."+name+".allow_private=true")
		}
	}
	slices.Sort(private)
	return private, nil
}

// checkVariables returns an error if a spec names an environment variable that it must not.
func (p *Policy) checkVariables(source []byte) error {
	var tree any
	if err := json.Unmarshal(source, &tree); err != nil {
		return err
	}
	var denied []string
	host.VariablesIn(tree, "", func(name string, _ bool) {
		if !slices.Contains(p.Env, name) && !slices.Contains(denied, name) {
			denied = append(denied, name)
		}
	})
	if len(denied) == 0 {
		return nil
	}
	slices.Sort(denied)
	return invalid("the agent needs the environment variables %s of the server; its operator can allow them: opensearch: {env: [%s]} in the server file",
		strings.Join(denied, ", "), strings.Join(denied, ", "))
}

// checkAddress returns an error unless an address of a spec, if it has one, may be called. One
// in a variable is the choice of the operator, who allowed the variable.
func (p *Policy) checkAddress(where string, value any) error {
	address, _ := value.(string)
	if address == "" || ofEnv().MatchString(address) {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.Contains(u.Host, "$") || strings.Contains(u.Path, "..") {
		return invalid("%s: %q is not an address that can be called", where, address)
	}
	for _, allowed := range p.Endpoints {
		if e, err := url.Parse(allowed); err == nil && e.Scheme == u.Scheme && strings.EqualFold(e.Host, u.Host) && isBelow(u.Path, e.Path) {
			return nil
		}
	}
	return invalid("%s: this server does not allow registered agents to call %s; its operator can: opensearch: {endpoints: [%s]} in the server file",
		where, fmt.Sprintf("%s://%s%s", u.Scheme, u.Host, u.Path), u.Scheme+"://"+u.Host)
}

// isBelow reports whether a path is another one, or below it.
func isBelow(path, above string) bool {
	above = strings.TrimSuffix(above, "/")
	return path == above || strings.HasPrefix(path, above+"/")
}
