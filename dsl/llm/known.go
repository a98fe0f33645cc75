package llm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

// vendor is a provider with the prefixes of its model names.
type vendor struct {
	provider string
	name     func() *regexp.Regexp
}

var vendors = []vendor{
	{"anthropic", text.Regexp(`^claude-`)},
	{"openai", text.Regexp(`^(gpt-|chatgpt-|o[134](-|$))`)},
	{"googleai", text.Regexp(`^gemini-`)},
	{"mistral", text.Regexp(`^(mistral|ministral|codestral|magistral|devstral)-`)},
}

// warnMisspelt warns if the model of the last LLM is a model of another vendor, or a
// misspelling of a known one. Other names are accepted, because the table of
// prices is never complete. v is that LLM.
func (c *Compiler) warnMisspelt(v *syntax.Node, at string) {
	m, model := &c.Specs[len(c.Specs)-1], v.Get("model")
	known := c.prices.ModelNames(m.Provider)
	if model == nil || known == nil || m.BaseURL.Text != "" {
		return
	}
	if !slices.ContainsFunc(vendors, func(v vendor) bool { return v.provider == m.Provider }) {
		return
	}
	name := m.Params.Model
	for _, v := range vendors {
		if v.provider != m.Provider && v.name().MatchString(name) {
			c.Report.Warn(diag.MisspeltModel, model.Position, "%s does not serve the model %s", m.Provider, syntax.Quote(name)).
				Hint = "write provider: " + v.provider + ", or set base_url if another server offers the model"
			return
		}
	}
	if near := nearModel(name, known); near != "" {
		c.Report.Warn(diag.MisspeltModel, model.Position, "unknown model %[2]s for provider %[1]s", m.Provider, syntax.Quote(name)).
			Advice = diag.DidYouMean(name, near, "to try it: --set "+at+".model="+near)
	}
}

var (
	digits  = text.Regexp(`[0-9.]+`)
	release = text.Regexp(`-20\d\d-?\d\d-?\d\d$`)
)

// shape returns a model's name without version and date. Names with the same
// shape are versions of one model.
func shape(name string) string {
	return digits().ReplaceAllString(release().ReplaceAllString(name, ""), "#")
}

// isTypo reports whether two names differ by a typing error: in one place by at
// most two characters, or only in separators.
func isTypo(a, b string) bool {
	a, b = joined.Replace(a), joined.Replace(b)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if a != "" && b != "" && digits().MatchString(a) != digits().MatchString(b) {
		return false // another version
	}
	return len(a) <= 2 && len(b) <= 2
}

var joined = strings.NewReplacer("-", "", "_", "", " ", "")

// nearModel returns the known model that a name misspells, or "" if the name is
// known or may be another version.
func nearModel(name string, known []string) string {
	if strings.ContainsAny(name, ":/") { // a fine-tuned model, or one of a catalog
		return ""
	}
	for _, k := range known {
		if shape(k) == shape(name) {
			return ""
		}
	}
	near := diag.Nearest(name, known)
	if near == "" || !isTypo(name, near) {
		return ""
	}
	return near
}

// price sets the known price of an LLM without cost, if there is one.
func (c *Compiler) price(m *engine.ModelSpec, v *syntax.Node, at string) {
	llm := pricing.ModelOf(m, v)
	cost, origin, ok := c.prices.PriceOf(llm)
	if !ok {
		return
	}
	m.Cost = &cost
	c.prices.Use(llm, cost)
	c.Defaults = append(c.Defaults, config.Origin{Path: at + ".cost", Value: config.Brief(pricing.CostText(&cost)), Origin: origin})
}

// warnRetired warns if the last LLM's model has a known retirement date; v is that
// LLM. The date is not compared with the clock, so the warnings for a spec change
// only with the table of prices.
func (c *Compiler) warnRetired(v *syntax.Node, at string) {
	m, model := &c.Specs[len(c.Specs)-1], v.Get("model")
	day := c.prices.RetiredFrom(pricing.ModelOf(m, v))
	if day == "" || model == nil {
		return
	}
	c.Report.Warn(diag.Deprecated, model.Position, "%s retires the model %s on %s", m.Provider, syntax.Quote(m.Params.Model), day).
		Hint = "try another model before that date: --set " + at + ".model=NAME"
}
