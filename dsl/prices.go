package dsl

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// Prices are what models cost, for llms whose spec does not say it. They are
// safe for concurrent use; nil knows none.
type Prices struct {
	find func(priced) (model.Cost, string, bool)
	ends func(priced) string // the day from which it is served no more; "" = none is known
	// names lists the models of a provider at its own endpoint; nil = not known.
	names func(provider string) []string

	mu   sync.Mutex // guards used
	used map[string]model.Cost
}

// priced is what the price of an llm depends on.
type priced struct {
	provider, model, baseURL string
	cacheTTL, tier           string // of its options, where its provider has them
}

// key names it in what a run keeps of its prices.
func (p priced) key() string {
	return strings.Join(strings.Fields(p.provider+"/"+p.model+" "+p.baseURL+" "+p.cacheTTL+" "+p.tier), " ")
}

//go:embed prices.yaml
var knownPrices []byte

// KnownPrices are those of well-known models, with their dates. They are read
// when they are first asked for.
func KnownPrices() *Prices {
	return &Prices{
		find:  func(p priced) (model.Cost, string, bool) { return readKnown().find(p) },
		ends:  func(p priced) string { return readKnown().ends(p) },
		names: func(provider string) []string { return readKnown().names(provider) },
	}
}

var readKnown = sync.OnceValue(func() *Prices {
	l := newLoader(Options{})
	src := &syntax.Source{Name: "prices.yaml", Text: knownPrices}
	p := l.prices(src, l.mapping(src, "a file of prices"))
	if p == nil {
		panic("the table of prices is broken: " + l.Report.List.String())
	}
	return p
})

// LoadPrices reads a file of kind: Prices and reports all that is wrong with
// it; the catalogue of the options says which providers there are. The Prices
// are nil when there is an error.
func LoadPrices(file string, o Options) (*Prices, diag.List) {
	l := newLoader(o)
	p, _ := l.loadPrices(file)
	if p != nil {
		p.names = nil // a price list of a user need not name every model
	}
	return p, l.Report.List.Sort()
}

func (l *loader) loadPrices(file string) (*Prices, *syntax.Node) {
	src := l.openFile(file, file, specfs.TestRoot)
	if src == nil {
		return nil, nil
	}
	tree := l.mapping(src, "a file of prices")
	if tree == nil {
		return nil, nil
	}
	if syntax.TextOf(tree, "kind") != specfs.KindPrices {
		l.wrongKind(tree, specfs.KindPrices)
		return nil, tree
	}
	return l.prices(src, tree), tree
}

// RecordedPrices are those that a run began with, as Used called them; what is
// not among them costs what rest says.
func RecordedPrices(of map[string]model.Cost, rest *Prices) *Prices {
	return &Prices{find: func(p priced) (model.Cost, string, bool) {
		if cost, ok := of[p.key()]; ok {
			return cost, "the run's prices", true
		}
		return rest.of(p)
	}, ends: rest.until, names: rest.modelNames()}
}

// Used are the prices that specs were given of these, agents within them
// included: what a later session needs to account alike.
func (p *Prices) Used() map[string]model.Cost {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.used)
}

// use notes that a spec was given a price.
func (p *Prices) use(llm priced, cost model.Cost) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == nil {
		p.used = map[string]model.Cost{}
	}
	p.used[llm.key()] = cost
}

// of is what an llm costs, and where that is written.
func (p *Prices) of(llm priced) (cost model.Cost, origin string, ok bool) {
	if p == nil || llm.model == "" {
		return cost, "", false
	}
	return p.find(llm)
}

// until is the day from which a vendor serves an llm's model no more; "" = none
// is known.
func (p *Prices) until(llm priced) string {
	if p == nil || p.ends == nil || llm.model == "" {
		return ""
	}
	return p.ends(llm)
}

// modelNames is names of these; nil knows none.
func (p *Prices) modelNames() func(string) []string {
	if p == nil {
		return nil
	}
	return p.names
}

// prices decodes a tree of kind: Prices; nil = there is an error.
func (l *loader) prices(src *syntax.Source, tree *syntax.Node) *Prices {
	before := len(l.Report.List)
	c := newCompiler(l, tree, src.Dir())
	c.Title, c.homes = "the file of prices", func() []language.Section { return nil }
	var k language.PricesKeys
	c.Decode(tree, "", &k)
	dates := c.priceSources(&k)
	for i := range k.Prices {
		c.checkPrice(tree.Get("prices").Items[i], &k.Prices[i], fmt.Sprintf("prices[%d]", i))
	}
	if l.Report.FailedSince(before) {
		return nil
	}
	rows := tree.Get("prices").Items
	c.overtaken(rows, k.Prices)
	row := func(llm priced) int {
		return slices.IndexFunc(k.Prices, func(row language.PriceKeys) bool { return pricesModel(&row, llm) })
	}
	return &Prices{find: func(llm priced) (model.Cost, string, bool) {
		i := row(llm)
		if i < 0 {
			return model.Cost{}, "", false
		}
		return costOf(&k.Prices[i], llm), pricedAt(rows[i].Position) + dates[llm.provider], true
	}, ends: func(llm priced) string {
		llm.tier = "" // which one is paid for changes nothing
		if i := row(llm); i >= 0 {
			return k.Prices[i].Retires
		}
		return ""
	}, names: func(provider string) []string { return modelNames(&k, provider) }}
}

// modelNames lists the models of a provider at its own endpoint, without patterns.
func modelNames(k *language.PricesKeys, provider string) []string {
	var out []string
	for _, row := range k.Prices {
		if row.Provider != provider || row.BaseURL != "" {
			continue
		}
		for _, name := range row.Models {
			if !strings.ContainsAny(name, "*?[") {
				out = append(out, name)
			}
		}
	}
	return out
}

// pricedAt is where a price stands.
func pricedAt(p syntax.Position) string {
	if p.Source.Path == "" {
		return "known prices"
	}
	return syntax.Where(p)
}

// pricesModel says whether it is the price of an llm.
func pricesModel(k *language.PriceKeys, llm priced) bool {
	if k.Provider != llm.provider || k.BaseURL != llm.baseURL && k.BaseURL != "*" || llm.tier != "" && llm.tier != "default" {
		return false
	}
	for _, name := range k.Models {
		if ok, _ := path.Match(name, llm.model); ok {
			return true
		}
	}
	return false
}

func costOf(k *language.PriceKeys, llm priced) model.Cost {
	c := model.Cost{Input: k.Input, Output: k.Output, CachedInput: k.CachedInput, CacheWrite: k.CacheWrite, MaxOutput: k.MaxOutput}
	long := llm.cacheTTL == "1h"
	if long && k.CacheWrite1h != 0 {
		c.CacheWrite = k.CacheWrite1h
	}
	if a := k.Above; a != nil {
		c.Above = &model.CostAbove{Tokens: a.Tokens, Input: a.Input, Output: a.Output, CachedInput: a.CachedInput, CacheWrite: a.CacheWrite}
		if long && a.CacheWrite1h != 0 {
			c.Above.CacheWrite = a.CacheWrite1h
		}
	}
	return c
}

// pricedAs is what the price of an llm depends on; v is the llm as it is written.
func pricedAs(m *engine.ModelSpec, v *syntax.Node) priced {
	options := v.Get("options")
	return priced{
		provider: m.Provider, model: m.Params.Model, baseURL: m.BaseURL.Text,
		cacheTTL: syntax.TextOf(options, "cache_ttl"), tier: cmp.Or(syntax.TextOf(options, "service_tier"), syntax.TextOf(options.Get("extra_body"), "service_tier")),
	}
}

// price gives an llm without cost the one that the options know, if they do.
func (c *compiler) price(m *engine.ModelSpec, v *syntax.Node, at string) {
	llm := pricedAs(m, v)
	cost, origin, ok := c.loader.options.Prices.of(llm)
	if !ok {
		return
	}
	m.Cost = &cost
	c.loader.options.Prices.use(llm, cost)
	c.Defaults = append(c.Defaults, config.Origin{Path: at + ".cost", Value: config.Brief(costText(&cost)), Origin: origin})
}

// retires warns where the model of the last llm added is one whose end is known;
// v is that llm. The day is told, and compared with no clock: what vet says of a
// spec changes with the table of prices alone.
func (c *compiler) retires(v *syntax.Node, at string) {
	m, model := &c.models[len(c.models)-1], v.Get("model")
	day := c.loader.options.Prices.until(pricedAs(m, v))
	if day == "" || model == nil {
		return
	}
	c.Report.Warn(diag.Deprecated, model.Position, "%s serves the model %s until %s only", m.Provider, syntax.Quote(m.Params.Model), day).
		Hint = "try another before that day: --set " + at + ".model=NAME"
}

// costText is a cost as a spec writes it.
func costText(c *model.Cost) string {
	return fmt.Sprintf("{input: %v, output: %v%s%s%s}", c.Input, c.Output,
		orNothing(", cached_input: ", c.CachedInput), orNothing(", cache_write: ", c.CacheWrite), aboveText(c.Above))
}

func orNothing(key string, usd float64) string {
	if usd == 0 {
		return ""
	}
	return key + fmt.Sprint(usd)
}

func aboveText(a *model.CostAbove) string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf(", above: {tokens: %d, input: %v, output: %v}", a.Tokens, a.Input, a.Output)
}
