package llm

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/secret"
)

// Compiler compiles the llms of a file, and those that roles make of them by
// their own keys.
type Compiler struct {
	*config.Decoder
	tree    *syntax.Node // of the file
	catalog *engine.Catalog
	prices  *pricing.Table

	Entries  map[string]*syntax.Node // by the names of specs
	Names    []string                // of the section, in its order
	Specs    []engine.ModelSpec
	Base     string // the entry of the role decoded last
	NoModels bool   // a role that no key mentions needs no llm: the graph is written and there are none
	Fallback string // what roles use that name none: the planner's, once it is known
	Broken   bool   // the planner's llm was not found
	reported bool   // that nothing says which llm is used
}

// NewCompiler makes a Compiler over the Decoder of a file, whose tree it is given.
func NewCompiler(d *config.Decoder, tree *syntax.Node, catalog *engine.Catalog, prices *pricing.Table) *Compiler {
	return &Compiler{Decoder: d, tree: tree, catalog: catalog, prices: prices, Entries: map[string]*syntax.Node{}}
}

// ModelKeys are the keys of an llm, which a role may have beside its own.
func (c *Compiler) ModelKeys() []string { return language.LLMKeys() }

// CompileLLMs reads the entries of llms.
func (c *Compiler) CompileLLMs(section *syntax.Node) {
	v := c.Section("llms", section)
	for _, e := range v.Entries {
		if !c.CheckName(e, "an LLM") {
			continue
		}
		c.Entries[e.Key] = e.Value
		c.Names = append(c.Names, e.Key)
	}
	for _, e := range v.Entries {
		if c.Entries[e.Key] != nil {
			c.addModel(e.Key, e.Value, "llms."+e.Key)
			c.retires(e.Value, "llms."+e.Key)
			c.misspelt(e.Value, "llms."+e.Key)
		}
	}
}

// addModel decodes an llm entry, or one overlaid with a role's overrides.
func (c *Compiler) addModel(name string, v *syntax.Node, path string) {
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
		Timeout: k.Timeout, Retry: retry.Policy(k.Retry), RateLimit: model.RateLimit(k.RateLimit), Fallback: k.Fallback,
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
	c.Specs = append(c.Specs, m)
}

// options decodes what a provider alone has, with the provider's Config.
func (c *Compiler) options(v *syntax.Node, provider, path string) any {
	f, ok := c.catalog.Models.Find(provider)
	if !ok {
		if p := v.Get("provider"); p != nil && provider != "" {
			c.Report.Error(diag.UnknownType, p.Position, "unknown provider %s", syntax.Quote(provider)).
				Advice = language.ProviderHint(provider, c.catalog.Models.Types())
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

func (c *Compiler) checkModel(v *syntax.Node, path string, k *language.LLM) {
	if k.APIKeyEnv != "" && !language.EnvName.MatchString(k.APIKeyEnv) && secret.FindWellKnown(k.APIKeyEnv).Kind == "" {
		c.Report.Error(diag.BadName, v.Get("api_key_env").Position, "%s.api_key_env must be the name of an environment variable", path).
			Hint = "write only the name: OPENAI_API_KEY"
	}
	for i, name := range k.Fallback {
		if c.Entries[name] == nil {
			c.Report.Error(diag.UnknownModel, v.Get("fallback").Items[i].Position, "undefined LLM %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.Names)
		}
	}
}

// ModelRef gives a role its llm: the entry it names, else the default, with
// the overrides beside it as an llm of its own.
func (c *Compiler) ModelRef(v *syntax.Node, f config.Field, overrides *syntax.Node, path string) {
	ref := f.Value.Addr().Interface().(*component.ModelRef)
	idle := c.NoModels || f.Tag.Get("for") != "" && v.Get(f.Tag.Get("for")) == nil
	if idle && v.Get(f.Key) == nil && len(overrides.Entries) == 0 && len(c.Names) == 0 {
		return // nothing asks it
	}
	name, ok := c.baseModel(v.Get(f.Key), v, overrides, path+"."+f.Key)
	if !ok {
		return
	}
	if len(overrides.Entries) == 0 {
		ref.Name = name
		c.Base = name
		return
	}
	derived := c.uniqueModel(name, path)
	c.Entries[derived] = c.overlay(name, overrides)
	c.Quiet = true
	c.addModel(derived, c.Entries[derived], path)
	c.Quiet = false
	if overrides.Get("model") != nil { // else the entry was told of
		c.retires(c.Entries[derived], path)
		c.misspelt(c.Entries[derived], path)
	}
	ref.Name = derived
	if c.Base = name; name == "" {
		c.Base = derived
	}
}

// baseModel is the entry that overrides lie over; "" = none, for a role that
// names its provider itself.
func (c *Compiler) baseModel(written, v, overrides *syntax.Node, path string) (name string, ok bool) {
	if written != nil {
		if written.Kind == syntax.Map {
			c.WrongType(written, path, "the name of an LLM").Hint = "write its keys next to this one, as in planner: {provider: ..., model: ...}, or define it under llms"
			return "", false
		}
		if !c.AsText(written, path) {
			return "", false
		}
		if c.Entries[written.Text] == nil {
			d := c.Report.Error(diag.UnknownModel, written.Position, "undefined LLM %s", syntax.Quote(written.Text))
			d.Advice = diag.Suggest(written.Text, c.Names)
			if llm := language.ModelEntry(written.Text, c.catalog.Models.Types()); llm != "" {
				d.Advice = diag.Advice{Hint: "define it under llms and use its name here: llms: {main: " + llm + "}"}
			}
			return "", false
		}
		return written.Text, true
	}
	switch {
	case overrides.Get("provider") != nil:
		return "", true
	case c.Fallback != "":
		return c.Fallback, true
	case len(c.Names) == 1:
		return c.Names[0], true
	case c.Broken || c.reported || c.Intended["llms"]: // which llm a role uses is not known
		return "", false
	}
	c.reported = true
	at := v.Position
	if e := c.tree.Find("llms"); e != nil && len(v.Entries) == 0 {
		at = e.Position
	}
	d := c.Report.Error(diag.AmbiguousModel, at, "no LLM selected for %s", strings.TrimSuffix(path, ".llm"))
	d.Hint = "define one under llms, or write provider and model here"
	if len(c.Names) > 1 {
		d.Hint = diag.Suggest("", c.Names).Hint + "; for example " + path + ": " + c.Names[0]
	}
	return "", false
}

// uniqueModel names the llm that a role's overrides make.
func (c *Compiler) uniqueModel(base, path string) string {
	name := path
	if base != "" {
		name = base + "+" + path
	}
	for c.Entries[name] != nil {
		name += "+"
	}
	return name
}

// ofProvider are the keys that mean nothing to another provider.
var ofProvider = []string{"model", "base_url", "api_key_env", "options", "cost"}

func (c *Compiler) overlay(base string, overrides *syntax.Node) *syntax.Node {
	below := c.Entries[base]
	if below == nil {
		return overrides
	}
	return ForProvider(below, overrides).Overlay(overrides)
}

// ForProvider is an llm without what means nothing to the provider that
// overrides give it.
func ForProvider(below, overrides *syntax.Node) *syntax.Node {
	if p, q := overrides.Get("provider"), below.Get("provider"); p != nil && q != nil && p.Text != q.Text {
		below = below.Shallow()
		below.Drop(ofProvider...)
	}
	return below
}

// WithFallbacks lists the llms that nodes use, with those they fall back to.
func (c *Compiler) WithFallbacks(names []string) []string {
	var out []string
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		i := slices.IndexFunc(c.Specs, func(m engine.ModelSpec) bool { return m.Name == name })
		if i < 0 || slices.Contains(out, name) {
			continue
		}
		out = append(out, name)
		names = append(names, c.Specs[i].Fallback...)
	}
	return out
}

// NamesIn lists the llms that settings name, at whatever depth.
func NamesIn(v reflect.Value) (out []string) {
	switch {
	case v.Type() == config.ModelRefType:
		if ref := v.Interface().(component.ModelRef); ref.Name != "" {
			out = append(out, ref.Name)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return NamesIn(v.Elem())
	case v.Kind() == reflect.Struct && !config.IsReference(v.Type()):
		fields, _ := config.Fields([]reflect.Value{v})
		for _, f := range fields {
			out = append(out, NamesIn(f.Value)...)
		}
	}
	return out
}
