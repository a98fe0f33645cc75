package dsl

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

var llmKeys = structKeys(llm{})

// LLMKeys are the keys of an llm, which a role may also have beside its llm to
// override them.
func LLMKeys() []string { return slices.Clone(llmKeys) }

func structKeys(s any) []string {
	p := reflect.New(reflect.TypeOf(s))
	fields, _ := fieldsOf([]reflect.Value{p.Elem()})
	return keysOf(fields)
}

// llms reads the entries of llms.
func (c *compiler) llms() {
	v := c.section("llms", c.doc.LLMs)
	for _, e := range v.entries {
		if !c.usable(e, "an llm") {
			continue
		}
		c.llmValues[e.key] = e.val
		c.llmNames = append(c.llmNames, e.key)
	}
	for _, e := range v.entries {
		if c.llmValues[e.key] != nil {
			c.addModel(e.key, e.val, "llms."+e.key)
			c.retires(e.val, "llms."+e.key)
			c.misspelt(e.val, "llms."+e.key)
		}
	}
}

// addModel decodes an llm entry, or one overlaid with a role's overrides.
func (c *compiler) addModel(name string, v *value, path string) {
	if v.kind == null {
		*v = value{place: v.place, kind: dict}
	}
	k, before := defaultLLM(), len(c.report.list)
	c.decode(v, path, &k)
	m := engine.ModelSpec{
		Name: name, Path: path, Provider: k.Provider, BaseURL: k.BaseURL, APIKeyEnv: k.APIKeyEnv, SystemPrompt: k.SystemPrompt,
		Params: engine.Params{
			Model: k.Model, Temperature: k.Temperature, TopP: k.TopP, Seed: k.Seed,
			MaxOutputTokens: k.MaxOutputTokens, Stop: k.Stop,
		},
		Timeout: k.Timeout, Retry: engine.RetryPolicy(k.Retry), RateLimit: engine.RateLimit(k.RateLimit), Fallback: k.Fallback,
	}
	if k.Cost != nil {
		m.Cost = k.Cost.price()
	} else {
		c.price(&m, v, path)
	}
	c.checkModel(v, path, &k)
	m.Config = c.options(v, k.Provider, path)
	if !c.report.failedSince(before) {
		c.checkProvider(v, &m)
	}
	c.models = append(c.models, m)
}

// options decodes what a provider alone has, with the provider's Config.
func (c *compiler) options(v *value, provider, path string) any {
	f, ok := c.loader.options.Catalog.Models.Find(provider)
	if !ok {
		if p := v.get("provider"); p != nil && provider != "" {
			c.report.error(diag.UnknownType, p.place, "there is no provider %s", quoted(provider)).
				Advice = providerHint(provider, c.loader.options.Catalog.Models.Types())
		}
		return nil
	}
	config := f.Config()
	options := &value{place: v.place, kind: dict}
	if e := v.find("options"); e != nil {
		options = e.val
	}
	c.decode(options, path+".options", config)
	return config
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *compiler) checkModel(v *value, path string, k *llm) {
	if k.APIKeyEnv != "" && !envName.MatchString(k.APIKeyEnv) && !looksSecret(k.APIKeyEnv) {
		c.report.error(diag.BadName, v.get("api_key_env").place, "%s.api_key_env is the name of an environment variable", path).
			Hint = "write the name alone: OPENAI_API_KEY"
	}
	for i, name := range k.Fallback {
		if c.llmValues[name] == nil {
			c.report.error(diag.UnknownModel, v.get("fallback").items[i].place, "there is no llm %s", quoted(name)).Advice = diag.Suggest(name, c.llmNames)
		}
	}
}

// modelRef gives a role its llm: the entry it names, else the default, with
// the overrides beside it as an llm of its own.
func (c *compiler) modelRef(v *value, f field, overrides *value, path string) {
	ref := f.value.Addr().Interface().(*component.ModelRef)
	idle := c.modelless || f.tag.Get("for") != "" && v.get(f.tag.Get("for")) == nil
	if idle && v.get(f.key) == nil && len(overrides.entries) == 0 && len(c.llmNames) == 0 {
		return // nothing asks it
	}
	name, ok := c.baseModel(v.get(f.key), v, overrides, path+"."+f.key)
	if !ok {
		return
	}
	if len(overrides.entries) == 0 {
		ref.Name = name
		c.base = name
		return
	}
	derived := c.uniqueModel(name, path)
	c.llmValues[derived] = c.overlay(name, overrides)
	c.quiet = true
	c.addModel(derived, c.llmValues[derived], path)
	c.quiet = false
	if overrides.get("model") != nil { // else the entry was told of
		c.retires(c.llmValues[derived], path)
		c.misspelt(c.llmValues[derived], path)
	}
	ref.Name = derived
	if c.base = name; name == "" {
		c.base = derived
	}
}

// baseModel is the entry that overrides lie over; "" = none, for a role that
// names its provider itself.
func (c *compiler) baseModel(written, v, overrides *value, path string) (name string, ok bool) {
	if written != nil {
		if written.kind == dict {
			c.wrongType(written, path, "the name of an llm").Hint = "write its keys beside this one, as in planner: {provider: ..., model: ...}, or give it an entry under llms"
			return "", false
		}
		if !c.asText(written, path) {
			return "", false
		}
		if c.llmValues[written.text] == nil {
			d := c.report.error(diag.UnknownModel, written.place, "there is no llm %s", quoted(written.text))
			d.Advice = diag.Suggest(written.text, c.llmNames)
			if llm := modelEntry(written.text, c.loader.options.Catalog.Models.Types()); llm != "" {
				d.Advice = diag.Advice{Hint: "define it under a name, and use that here: llms: {main: " + llm + "}"}
			}
			return "", false
		}
		return written.text, true
	}
	switch {
	case overrides.get("provider") != nil:
		return "", true
	case c.defaultModel != "":
		return c.defaultModel, true
	case len(c.llmNames) == 1:
		return c.llmNames[0], true
	case c.brokenModel || c.whichTold:
		return "", false
	}
	c.whichTold = true
	at := v.place
	if e := c.tree.find("llms"); e != nil && len(v.entries) == 0 {
		at = e.place
	}
	d := c.report.error(diag.WhichModel, at, "nothing says which llm %s uses", strings.TrimSuffix(path, ".llm"))
	d.Hint = "add one under llms, or provider and model here"
	if len(c.llmNames) > 1 {
		d.Hint = diag.Suggest("", c.llmNames).Hint + ": write " + path + ": " + c.llmNames[0]
	}
	return "", false
}

// uniqueModel names the llm that a role's overrides make.
func (c *compiler) uniqueModel(base, path string) string {
	name := path
	if base != "" {
		name = base + "+" + path
	}
	for c.llmValues[name] != nil {
		name += "+"
	}
	return name
}

// ofProvider are the keys that mean nothing to another provider.
var ofProvider = []string{"model", "base_url", "api_key_env", "options", "cost"}

func (c *compiler) overlay(base string, overrides *value) *value {
	below := c.llmValues[base]
	if below == nil {
		return overrides
	}
	return ofOneProvider(below, overrides).overlaid(overrides)
}

// ofOneProvider is an llm without what means nothing to the provider that
// overrides give it.
func ofOneProvider(below, overrides *value) *value {
	if p, q := overrides.get("provider"), below.get("provider"); p != nil && q != nil && p.text != q.text {
		below = below.shallow()
		below.drop(ofProvider...)
	}
	return below
}

// usedModels lists the llms that nodes use, with those they fall back to.
func (c *compiler) usedModels(names []string) []string {
	var out []string
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		i := slices.IndexFunc(c.models, func(m engine.ModelSpec) bool { return m.Name == name })
		if i < 0 || slices.Contains(out, name) {
			continue
		}
		out = append(out, name)
		names = append(names, c.models[i].Fallback...)
	}
	return out
}
