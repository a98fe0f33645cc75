package dsl

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
)

// llms reads the entries of llms.
func (c *compiler) llms() {
	v := c.Section("llms", c.doc.LLMs)
	for _, e := range v.Entries {
		if !c.CheckName(e, "an llm") {
			continue
		}
		c.llmValues[e.Key] = e.Value
		c.llmNames = append(c.llmNames, e.Key)
	}
	for _, e := range v.Entries {
		if c.llmValues[e.Key] != nil {
			c.addModel(e.Key, e.Value, "llms."+e.Key)
			c.retires(e.Value, "llms."+e.Key)
			c.misspelt(e.Value, "llms."+e.Key)
		}
	}
}

// addModel decodes an llm entry, or one overlaid with a role's overrides.
func (c *compiler) addModel(name string, v *syntax.Node, path string) {
	if v.Kind == syntax.Null {
		*v = syntax.Node{Position: v.Position, Kind: syntax.Map}
	}
	k, before := language.DefaultLLM(), len(c.Report.List)
	c.Decode(v, path, &k)
	m := engine.ModelSpec{
		Name: name, Path: path, Provider: k.Provider, BaseURL: k.BaseURL, APIKeyEnv: k.APIKeyEnv, SystemPrompt: k.SystemPrompt,
		Params: model.Params{
			Model: k.Model, Temperature: k.Temperature, TopP: k.TopP, Seed: k.Seed,
			MaxOutputTokens: k.MaxOutputTokens, Stop: k.Stop,
		},
		Timeout: k.Timeout, Retry: model.RetryPolicy(k.Retry), RateLimit: model.RateLimit(k.RateLimit), Fallback: k.Fallback,
	}
	if k.Cost != nil {
		m.Cost = k.Cost.Price()
	} else {
		c.price(&m, v, path)
	}
	c.checkModel(v, path, &k)
	m.Config = c.options(v, k.Provider, path)
	if !c.Report.FailedSince(before) {
		c.checkProvider(v, &m)
	}
	c.models = append(c.models, m)
}

// options decodes what a provider alone has, with the provider's Config.
func (c *compiler) options(v *syntax.Node, provider, path string) any {
	f, ok := c.loader.options.Catalog.Models.Find(provider)
	if !ok {
		if p := v.Get("provider"); p != nil && provider != "" {
			c.Report.Error(diag.UnknownType, p.Position, "there is no provider %s", syntax.Quote(provider)).
				Advice = language.ProviderHint(provider, c.loader.options.Catalog.Models.Types())
		}
		return nil
	}
	config := f.Config()
	options := &syntax.Node{Position: v.Position, Kind: syntax.Map}
	if e := v.Find("options"); e != nil {
		options = e.Value
	}
	c.Decode(options, path+".options", config)
	return config
}

func (c *compiler) checkModel(v *syntax.Node, path string, k *language.LLM) {
	if k.APIKeyEnv != "" && !language.EnvName.MatchString(k.APIKeyEnv) && secret.Known(k.APIKeyEnv).Looks == "" {
		c.Report.Error(diag.BadName, v.Get("api_key_env").Position, "%s.api_key_env is the name of an environment variable", path).
			Hint = "write the name alone: OPENAI_API_KEY"
	}
	for i, name := range k.Fallback {
		if c.llmValues[name] == nil {
			c.Report.Error(diag.UnknownModel, v.Get("fallback").Items[i].Position, "there is no llm %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.llmNames)
		}
	}
}

// ModelRef gives a role its llm: the entry it names, else the default, with
// the overrides beside it as an llm of its own.
func (c *compiler) ModelRef(v *syntax.Node, f config.Field, overrides *syntax.Node, path string) {
	ref := f.Value.Addr().Interface().(*component.ModelRef)
	idle := c.modelless || f.Tag.Get("for") != "" && v.Get(f.Tag.Get("for")) == nil
	if idle && v.Get(f.Key) == nil && len(overrides.Entries) == 0 && len(c.llmNames) == 0 {
		return // nothing asks it
	}
	name, ok := c.baseModel(v.Get(f.Key), v, overrides, path+"."+f.Key)
	if !ok {
		return
	}
	if len(overrides.Entries) == 0 {
		ref.Name = name
		c.base = name
		return
	}
	derived := c.uniqueModel(name, path)
	c.llmValues[derived] = c.overlay(name, overrides)
	c.Quiet = true
	c.addModel(derived, c.llmValues[derived], path)
	c.Quiet = false
	if overrides.Get("model") != nil { // else the entry was told of
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
func (c *compiler) baseModel(written, v, overrides *syntax.Node, path string) (name string, ok bool) {
	if written != nil {
		if written.Kind == syntax.Map {
			c.WrongType(written, path, "the name of an llm").Hint = "write its keys beside this one, as in planner: {provider: ..., model: ...}, or give it an entry under llms"
			return "", false
		}
		if !c.AsText(written, path) {
			return "", false
		}
		if c.llmValues[written.Text] == nil {
			d := c.Report.Error(diag.UnknownModel, written.Position, "there is no llm %s", syntax.Quote(written.Text))
			d.Advice = diag.Suggest(written.Text, c.llmNames)
			if llm := language.ModelEntry(written.Text, c.loader.options.Catalog.Models.Types()); llm != "" {
				d.Advice = diag.Advice{Hint: "define it under a name, and use that here: llms: {main: " + llm + "}"}
			}
			return "", false
		}
		return written.Text, true
	}
	switch {
	case overrides.Get("provider") != nil:
		return "", true
	case c.defaultModel != "":
		return c.defaultModel, true
	case len(c.llmNames) == 1:
		return c.llmNames[0], true
	case c.brokenModel || c.whichTold || c.Intended["llms"]: // which llm a role uses is not known
		return "", false
	}
	c.whichTold = true
	at := v.Position
	if e := c.tree.Find("llms"); e != nil && len(v.Entries) == 0 {
		at = e.Position
	}
	d := c.Report.Error(diag.WhichModel, at, "nothing says which llm %s uses", strings.TrimSuffix(path, ".llm"))
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

func (c *compiler) overlay(base string, overrides *syntax.Node) *syntax.Node {
	below := c.llmValues[base]
	if below == nil {
		return overrides
	}
	return ofOneProvider(below, overrides).Overlay(overrides)
}

// ofOneProvider is an llm without what means nothing to the provider that
// overrides give it.
func ofOneProvider(below, overrides *syntax.Node) *syntax.Node {
	if p, q := overrides.Get("provider"), below.Get("provider"); p != nil && q != nil && p.Text != q.Text {
		below = below.Shallow()
		below.Drop(ofProvider...)
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
