package pricing

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// Table holds the prices of models, for LLMs without cost in their spec. It is
// safe for concurrent use; a nil Table is empty.
type Table struct {
	find func(Model) (model.Cost, string, bool)
	ends func(Model) string // retirement date; "" if unknown
	// names returns the models of a provider at its own endpoint; nil if unknown.
	names func(provider string) []string

	mu   sync.Mutex // guards used
	used map[string]model.Cost
}

// Model holds what the price of an LLM depends on.
type Model struct {
	provider, model, baseURL string
	cacheTTL, tier           string // from its options, if its provider has them
}

// key returns its key in the recorded prices of a run.
func (p Model) key() string {
	return strings.Join(strings.Fields(p.provider+"/"+p.model+" "+p.baseURL+" "+p.cacheTTL+" "+p.tier), " ")
}

// knownPrices is the content of prices.yaml as JSON, which is decoded 20 times faster. make golden updates it.
//
//go:embed prices.json
var knownPrices []byte

// priceList is a valid list of prices.
type priceList struct {
	Prices []language.PriceKeys
	Dates  map[string]string // by provider: " as of 2026-12-31"
}

// Known returns the table of well-known models, with dates. It is decoded on first
// use.
func Known() *Table {
	return &Table{
		find:  func(p Model) (model.Cost, string, bool) { return readKnown().find(p) },
		ends:  func(p Model) string { return readKnown().ends(p) },
		names: func(provider string) []string { return readKnown().names(provider) },
	}
}

var readKnown = sync.OnceValue(func() *Table {
	var l priceList
	if err := json.Unmarshal(knownPrices, &l); err != nil {
		panic("the built-in price table is invalid: " + err.Error())
	}
	return l.table(func(int) string { return "known prices" })
})

// Recorded returns a table with the prices with which a run started, as returned
// by Used. For other models it uses rest.
func Recorded(of map[string]model.Cost, rest *Table) *Table {
	return &Table{find: func(p Model) (model.Cost, string, bool) {
		if cost, ok := of[p.key()]; ok {
			return cost, "the run's prices", true
		}
		return rest.PriceOf(p)
	}, ends: rest.RetiredFrom, names: rest.modelNames()}
}

// MarkIncomplete marks a price list as incomplete, like those of users: names that
// it does not have are then not misspelled.
func (p *Table) MarkIncomplete() { p.names = nil }

// Used returns the prices given to specs, including agents within them: what a
// later session needs for the same accounting.
func (p *Table) Used() map[string]model.Cost {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.used)
}

// Use records that a spec was given a price.
func (p *Table) Use(llm Model, cost model.Cost) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == nil {
		p.used = map[string]model.Cost{}
	}
	p.used[llm.key()] = cost
}

// PriceOf returns the price of an LLM, and where it is defined.
func (p *Table) PriceOf(llm Model) (cost model.Cost, origin string, ok bool) {
	if p == nil || llm.model == "" {
		return cost, "", false
	}
	return p.find(llm)
}

// RetiredFrom returns the date from which the vendor no longer serves an LLM's
// model, or "" if unknown.
func (p *Table) RetiredFrom(llm Model) string {
	if p == nil || p.ends == nil || llm.model == "" {
		return ""
	}
	return p.ends(llm)
}

// ModelNames returns the models of a provider at its own endpoint, or nil if
// unknown.
func (p *Table) ModelNames(provider string) []string {
	if p == nil || p.names == nil {
		return nil
	}
	return p.names(provider)
}

func (p *Table) modelNames() func(string) []string {
	if p == nil {
		return nil
	}
	return p.names
}

// Parse decodes a tree of kind: Prices and reports its mistakes. The catalog
// defines the providers. It returns nil if there is an error.
func Parse(u *config.Unit, tree *syntax.Node, catalog *engine.Catalog) *Table {
	l := parseList(u, tree, catalog)
	if l == nil {
		return nil
	}
	rows := tree.Get("prices").Items
	return l.table(func(i int) string { return syntax.Where(rows[i].Position) })
}

func parseList(u *config.Unit, tree *syntax.Node, catalog *engine.Catalog) *priceList {
	before := len(u.Report.List)
	c := &parser{Decoder: config.NewDecoder(u, ""), tree: tree, providers: catalog.Models.Types()}
	c.Title, c.Language = "the price file", language.Plain{Catalog: catalog}
	var k language.PricesKeys
	c.Decode(tree, "", &k)
	dates := c.priceSources(&k)
	for i := range k.Prices {
		c.checkPrice(tree.Get("prices").Items[i], &k.Prices[i], fmt.Sprintf("prices[%d]", i))
	}
	if u.Report.FailedSince(before) {
		return nil
	}
	c.warnShadowed(tree.Get("prices").Items, k.Prices)
	return &priceList{k.Prices, dates}
}

// table returns the list as a table; place returns where an entry is defined.
func (l *priceList) table(place func(i int) string) *Table {
	row := func(llm Model) int {
		return slices.IndexFunc(l.Prices, func(row language.PriceKeys) bool { return pricesModel(&row, llm) })
	}
	return &Table{find: func(llm Model) (model.Cost, string, bool) {
		i := row(llm)
		if i < 0 {
			return model.Cost{}, "", false
		}
		return costOf(&l.Prices[i], llm), place(i) + l.Dates[llm.provider], true
	}, ends: func(llm Model) string {
		llm.tier = "" // the price does not depend on it
		if i := row(llm); i >= 0 {
			return l.Prices[i].Retires
		}
		return ""
	}, names: l.modelNames}
}

// modelNames returns the models of a provider at its own endpoint, without
// patterns.
func (l *priceList) modelNames(provider string) []string {
	var out []string
	for _, row := range l.Prices {
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

// parser decodes a file of kind: Prices.
type parser struct {
	*config.Decoder
	tree      *syntax.Node
	providers []string // in the catalog
}

// pricesModel reports whether an entry is the price of an LLM.
func pricesModel(k *language.PriceKeys, llm Model) bool {
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

func costOf(k *language.PriceKeys, llm Model) model.Cost {
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

// ModelOf returns what the price of an LLM depends on; v is its entry.
func ModelOf(m *engine.ModelSpec, v *syntax.Node) Model {
	options := v.Get("options")
	return Model{
		provider: m.Provider, model: m.Params.Model, baseURL: m.BaseURL.Text,
		cacheTTL: syntax.TextOf(options, "cache_ttl"), tier: cmp.Or(syntax.TextOf(options, "service_tier"), syntax.TextOf(options.Get("extra_body"), "service_tier")),
	}
}

// CostText returns a cost in the notation of specs.
func CostText(c *model.Cost) string {
	return fmt.Sprintf("{input: %v, output: %v%s%s%s}", c.Input, c.Output,
		optionalCost(", cached_input: ", c.CachedInput), optionalCost(", cache_write: ", c.CacheWrite), aboveText(c.Above))
}

func optionalCost(key string, usd float64) string {
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

// Knows reports whether the table has the price of a provider's model, at the
// provider's own endpoint.
func (p *Table) Knows(provider, model string) bool {
	_, _, ok := p.PriceOf(Model{provider: provider, model: model})
	return ok
}
