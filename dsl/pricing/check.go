package pricing

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
)

// priceSources checks the sources and returns the text for the date of each.
func (c *parser) priceSources(k *language.PricesKeys) map[string]string {
	dates := map[string]string{}
	for i, s := range k.Sources {
		v := c.tree.Get("sources").Items[i]
		c.day(v, "as_of", fmt.Sprintf("sources[%d]", i), s.AsOf)
		c.priceProvider(v, s.Provider)
		dates[s.Provider] = " as of " + s.AsOf
	}
	return dates
}

// day reports an invalid date.
func (c *parser) day(v *syntax.Node, key, at, day string) {
	if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
		c.Report.Error(diag.WrongType, v.Get(key).Position, "%s.%s must be a date, got %s", at, key, syntax.Quote(day)).Hint = "write 2026-12-31"
	}
}

func (c *parser) checkPrice(v *syntax.Node, k *language.PriceKeys, at string) {
	c.priceProvider(v, k.Provider)
	c.day(v, "retires", at, k.Retires)
	for i, name := range k.Models {
		if _, err := path.Match(name, ""); err != nil {
			c.Report.Error(diag.BadPattern, v.Get("models").Items[i].Position, "invalid pattern %s: a [ is not closed", syntax.Quote(name))
		}
	}
}

// priceProvider reports a provider that is not in the catalog.
func (c *parser) priceProvider(v *syntax.Node, name string) {
	if name != "" && len(c.providers) > 0 && !slices.Contains(c.providers, name) {
		c.Report.Error(diag.UnknownType, v.Get("provider").Position, "unknown provider %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.providers)
	}
}

// claim is a name that an entry matches.
type claim struct{ provider, baseURL, model string }

func (c claim) isPattern() bool { return strings.ContainsAny(c.model, "*?[") }

// claims are those of the entries above, with the entries' numbers.
type claims struct {
	of       map[claim]int
	patterns []claim
}

// warnShadowed warns about names that never match, because an entry above has the
// same name or a matching pattern.
func (c *parser) warnShadowed(rows []*syntax.Node, prices []language.PriceKeys) {
	above := claims{of: map[claim]int{}}
	for i, k := range prices {
		for j, name := range k.Models {
			own := claim{k.Provider, k.BaseURL, name}
			if n, ok := above.find(own); ok {
				c.Report.Warn(diag.Unused, rows[i].Get("models").Items[j].Position, "%s has no effect here: prices[%d] already matches it", syntax.Quote(name), n).
					Hint = "the first matching entry is used; move the more specific one up, or remove one"
				continue
			}
			above.of[own] = i
			if own.isPattern() {
				above.patterns = append(above.patterns, own)
			}
		}
	}
}

// find returns the entry that already has a name.
func (c *claims) find(own claim) (entry int, ok bool) {
	for _, base := range []string{own.baseURL, "*"} {
		if n, ok := c.of[claim{own.provider, base, own.model}]; ok {
			return n, true
		}
	}
	for _, p := range c.patterns {
		wide := p.provider == own.provider && (p.baseURL == own.baseURL || p.baseURL == "*")
		if ok, _ := path.Match(p.model, own.model); ok && wide && !own.isPattern() {
			return c.of[p], true
		}
	}
	return 0, false
}
