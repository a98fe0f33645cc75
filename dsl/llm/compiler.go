package llm

import (
	"fmt"
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

// Compiler compiles the LLMs of a file, and those that roles derive with their
// own keys.
type Compiler struct {
	*config.Decoder
	tree    *syntax.Node // of the file
	catalog *engine.Catalog
	prices  *pricing.Table

	Entries  map[string]*syntax.Node // by their names in the spec
	Names    []string                // of the section, in order
	Specs    []engine.ModelSpec
	Base     string // the entry of the last decoded role
	NoModels bool   // a role without keys needs no LLM: the spec defines its graph and has none
	Fallback string // the LLM of roles that name none: the planner's, once known
	Broken   bool   // the planner's LLM was not found
	reported bool   // the missing choice of an LLM was reported
}

// NewCompiler returns a Compiler for a file, given its Decoder and its tree.
func NewCompiler(d *config.Decoder, tree *syntax.Node, catalog *engine.Catalog, prices *pricing.Table) *Compiler {
	return &Compiler{Decoder: d, tree: tree, catalog: catalog, prices: prices, Entries: map[string]*syntax.Node{}}
}

// ModelKeys returns the keys of an LLM, which a role may have beside its own.
func (c *Compiler) ModelKeys() []string { return language.LLMKeys() }

// CompileLLMs decodes the entries of llms.
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
			c.warnRetired(e.Value, "llms."+e.Key)
			c.warnMisspelt(e.Value, "llms."+e.Key)
		}
	}
	for i := range c.Specs {
		c.checkFallbackFiles(c.Entries[c.Specs[i].Name], &c.Specs[i])
	}
}

// addModel decodes an entry of llms, or one with a role's overrides.
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
		Accepts: k.Accepts,
	}
	if k.Cost != nil {
		m.Cost = k.Cost.Price()
	} else {
		c.price(&m, v, path)
	}
	c.checkModel(v, path, &k)
	m.Config = c.options(v, k.Provider, path)
	c.checkFiles(v, &m)
	if !c.Report.FailedSince(before) {
		c.checkProvider(v, &m)
	}
	c.Specs = append(c.Specs, m)
}

// options decodes the provider's own keys with its Config.
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
	if k.APIKeyEnv != "" && !language.EnvName().MatchString(k.APIKeyEnv) && secret.FindWellKnown(k.APIKeyEnv).Kind == "" {
		c.Report.Error(diag.BadName, v.Get("api_key_env").Position, "%s.api_key_env must be the name of an environment variable", path).
			Hint = "write only the name: OPENAI_API_KEY"
	}
	for i, name := range k.Fallback {
		if c.Entries[name] == nil {
			c.Report.Error(diag.UnknownModel, v.Get("fallback").Items[i].Position, "undefined LLM %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.Names)
		}
	}
}

// ModelRef resolves the LLM of a role: the entry that it names, or the default.
// Overrides beside it define a derived LLM.
func (c *Compiler) ModelRef(v *syntax.Node, f config.Field, overrides *syntax.Node, path string) {
	ref := f.Value.Addr().Interface().(*component.ModelRef)
	idle := c.NoModels || f.Tag.Get("for") != "" && v.Get(f.Tag.Get("for")) == nil
	if idle && v.Get(f.Key) == nil && len(overrides.Entries) == 0 && len(c.Names) == 0 {
		return // nothing uses it
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
	if overrides.Get("accepts") != nil || overrides.Get("fallback") != nil {
		c.checkFallbackFiles(c.Entries[derived], &c.Specs[len(c.Specs)-1])
	}
	if overrides.Get("model") != nil { // otherwise the entry was reported
		c.warnRetired(c.Entries[derived], path)
		c.warnMisspelt(c.Entries[derived], path)
	}
	ref.Name = derived
	if c.Base = name; name == "" {
		c.Base = derived
	}
}

// baseModel returns the entry that overrides apply to, or "" for a role that
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
				name := "main"
				if c.Entries[name] != nil {
					name = "NAME"
				}
				d.Advice = diag.Advice{Hint: fmt.Sprintf("define it as llms: {%s: %s}, and write %[1]s here", name, llm)}
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
	case c.Broken || c.reported || c.Intended["llms"]: // the LLM of a role is unknown
		return "", false
	}
	c.reported = true
	at := v.Position
	if e := c.tree.Find("llms"); e != nil && len(v.Entries) == 0 {
		at = e.Position
	}
	role := strings.TrimSuffix(path, ".llm")
	d := c.Report.Error(diag.AmbiguousModel, at, "no LLM selected for %s", role)
	d.Hint = "add llms: {main: {provider: ..., model: ...}}, or write provider and model in " + role
	if len(c.Names) > 1 {
		d.Hint = diag.Suggest("", c.Names).Hint + "; for example " + path + ": " + c.Names[0]
	}
	return "", false
}

// uniqueModel returns a name for the LLM that a role's overrides define.
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

// ofProvider are the keys that depend on the provider.
var ofProvider = []string{"model", "base_url", "api_key_env", "options", "cost"}

func (c *Compiler) overlay(base string, overrides *syntax.Node) *syntax.Node {
	below := c.Entries[base]
	if below == nil {
		return overrides
	}
	return ForProvider(below, overrides).Overlay(overrides)
}

// ForProvider returns an LLM without the keys that do not apply to the provider
// in overrides.
func ForProvider(below, overrides *syntax.Node) *syntax.Node {
	if p, q := overrides.Get("provider"), below.Get("provider"); p != nil && q != nil && p.Text != q.Text {
		below = below.Shallow()
		below.Drop(ofProvider...)
	}
	return below
}

// WithFallbacks returns the LLMs that nodes use, with their fallbacks.
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

// NamesIn returns the LLMs that settings name, at any depth.
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
