package dsl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// pricedSpec returns a spec with an LLM, given on one line, and more lines.
func pricedSpec(llm, more string) string {
	return "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: a}\nllms: {main: " + llm + "}\ntools: {clock: {}}\n" + more
}

// priced compiles a spec in an empty folder, with a price file if given, and
// returns the prices that were used.
func priced(t *testing.T, spec, prices string, o dsl.Options) (*engine.Program, *dsl.Spec, map[string]model.Cost) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"spec.yaml": spec, "prices.yaml": prices} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.Catalog = catalog
	if prices != "" {
		p, found := dsl.LoadPrices("prices.yaml", o)
		if p == nil {
			t.Fatal(found.String())
		}
		o.Prices = pricing.Recorded(nil, p)
	}
	p, s, found := dsl.Compile("spec.yaml", o)
	if p == nil {
		t.Fatal(found.String())
	}
	if o.Prices == nil {
		return p, s, nil
	}
	return p, s, o.Prices.Used()
}

const pricesFile = `apiVersion: pex/v1
kind: Prices
sources: [{provider: openai, as_of: 2026-01-31}]
prices:
  - {provider: openai, models: ["gpt-x-20[0-9][0-9]"], input: 1, output: 2}
  - {provider: openai, models: ["gpt-x*"], input: 3, output: 4, cached_input: 0.3, cache_write: 5, cache_write_1h: 6, max_output: 100, above: {tokens: 1000, input: 7, output: 8, cache_write_1h: 9}}
  - {provider: openai, models: [gpt-y], base_url: "http://mine/v1", input: 10, output: 11}
  - {provider: openai, models: [gpt-z], base_url: "*", input: 0, output: 0}
`

func TestPricesFitTheLLM(t *testing.T) {
	whole := model.Cost{Input: 3, Output: 4, CachedInput: 0.3, CacheWrite: 5, MaxOutput: 100, Above: &model.CostAbove{Tokens: 1000, Input: 7, Output: 8}}
	tests := []struct {
		name, llm string
		want      *model.Cost
	}{
		{"the first that fits", "{provider: openai, model: gpt-x-2024}", &model.Cost{Input: 1, Output: 2}},
		{"a pattern", "{provider: openai, model: gpt-x-mini}", &whole},
		{"another provider", "{provider: scripted, model: gpt-x-mini}", nil},
		{"another model", "{provider: openai, model: my-gpt-x}", nil},
		{"no model", "{provider: openai}", nil},
		{"an address of one's own", "{provider: openai, model: gpt-x, base_url: 'http://mine/v1'}", nil},
		{"a price for that address", "{provider: openai, model: gpt-y, base_url: 'http://mine/v1'}", &model.Cost{Input: 10, Output: 11}},
		{"not without it", "{provider: openai, model: gpt-y}", nil},
		{"any address, for nothing", "{provider: openai, model: gpt-z, base_url: 'http://mine/v1'}", &model.Cost{}},
		{"cost goes first", "{provider: openai, model: gpt-z, cost: {input: 1, output: 1}}", &model.Cost{Input: 1, Output: 1}},
		{
			"cost has all that a price has", "{provider: openai, model: gpt-z, cost: {input: 1, output: 2, cached_input: 3, cache_write: 4, above: {tokens: 5, input: 6, output: 7, cached_input: 8, cache_write: 9}}}",
			&model.Cost{Input: 1, Output: 2, CachedInput: 3, CacheWrite: 4, Above: &model.CostAbove{Tokens: 5, Input: 6, Output: 7, CachedInput: 8, CacheWrite: 9}},
		},
		{"another tier", "{provider: openai, model: gpt-x, options: {extra_body: {service_tier: priority}}}", nil},
		{"the default tier", "{provider: openai, model: gpt-x, options: {extra_body: {service_tier: default}}}", &whole},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			llm := tt.llm
			if strings.Contains(llm, "scripted") {
				llm = strings.TrimSuffix(llm, "}") + ", options: {replies: [{text: x}]}}"
			}
			p, _, _ := priced(t, pricedSpec(llm, ""), pricesFile, dsl.Options{})
			if d := cmp.Diff(tt.want, p.Models[0].Cost); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRetiredModelsAreReported: models are reported by the table's dates, at the
// vendor's own endpoint, whatever today's date.
func TestRetiredModelsAreReported(t *testing.T) {
	table := `apiVersion: pex/v1
kind: Prices
prices:
  - {provider: openai, models: [gpt-old], input: 1, output: 2, retires: 1999-12-31}
  - {provider: openai, models: [gpt-x], input: 1, output: 2, retires: 2999-12-31}
  - {provider: openai, models: [gpt-y], input: 1, output: 2}
`
	tests := []struct{ name, llm, want string }{
		{"that has ended", "{provider: openai, model: gpt-old}", `openai retires the model "gpt-old" on 1999-12-31; try another model before that date: --set llms.main.model=NAME`},
		{"that will end", "{provider: openai, model: gpt-x}", `openai retires the model "gpt-x" on 2999-12-31; try another model before that date: --set llms.main.model=NAME`},
		{"with a price of one's own", "{provider: openai, model: gpt-x, cost: {input: 1, output: 1}}", `openai retires the model "gpt-x" on 2999-12-31; try another model before that date: --set llms.main.model=NAME`},
		{"at another tier", "{provider: openai, model: gpt-x, options: {extra_body: {service_tier: flex}}}", `openai retires the model "gpt-x" on 2999-12-31; try another model before that date: --set llms.main.model=NAME`},
		{"of somebody else", "{provider: openai, model: gpt-x, base_url: 'http://mine/v1'}", ""},
		{"that stays", "{provider: openai, model: gpt-y}", ""},
		{"that nobody knows", "{provider: openai, model: gpt-z}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range map[string]string{"spec.yaml": pricedSpec(tt.llm, "planner: {temperature: 0.5}\n"), "prices.yaml": table} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, _ := dsl.LoadPrices("prices.yaml", dsl.Options{Catalog: catalog})
			_, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog, Prices: pricing.Recorded(nil, p)})
			var got []string
			for _, d := range found {
				got = append(got, d.Message+"; "+d.Hint)
			}
			if d := cmp.Diff(tt.want, strings.Join(got, "\n")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPricesAreNotPartOfTheProgram(t *testing.T) {
	spec := pricedSpec("{provider: openai, model: gpt-x}", "limits: {max_cost: 1}\n")
	a, _, used := priced(t, spec, pricesFile, dsl.Options{})
	b, _, _ := priced(t, spec, strings.ReplaceAll(pricesFile, "input: 3", "input: 30"), dsl.Options{})
	if a.Digest != b.Digest || a.Models[0].Cost.Input != 3 || b.Models[0].Cost.Input != 30 {
		t.Errorf("%s at %v, %s at %v", a.Digest, a.Models[0].Cost, b.Digest, b.Models[0].Cost)
	}
	again, found := dsl.Recompile(a.Source, ".", dsl.Options{Catalog: catalog, Prices: pricing.Recorded(used, nil)})
	if again == nil {
		t.Fatal(found.String())
	}
	if d := cmp.Diff(a.Models[0].Cost, again.Models[0].Cost); d != "" {
		t.Errorf("made again with the prices that the run began with: %s", d)
	}
	if _, found := dsl.Recompile(a.Source, ".", dsl.Options{Catalog: catalog}); !strings.Contains(found.String(), "has no price") {
		t.Errorf("made again without prices: %s", found.String())
	}
}

func TestRecordedPricesWin(t *testing.T) {
	_, _, used := priced(t, pricedSpec("{provider: openai, model: gpt-x}", ""), pricesFile, dsl.Options{})
	o := dsl.Options{Prices: pricing.Recorded(used, pricing.Known())}
	for model, want := range map[string]float64{"gpt-x": 3, "gpt-4.1-mini": 0.4} {
		p, _, _ := priced(t, pricedSpec("{provider: openai, model: "+model+"}", ""), "", o)
		if p.Models[0].Cost == nil || p.Models[0].Cost.Input != want {
			t.Errorf("%s costs %v, want %v", model, p.Models[0].Cost, want)
		}
	}
}

func TestExplainShowsTheOriginOfAPrice(t *testing.T) {
	tests := []struct{ name, prices, want string }{
		{"a file", pricesFile, "prices.yaml:6:5 as of 2026-01-31"},
		{"the table", "", "known prices as of 20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			model := map[bool]string{true: "gpt-4.1-mini", false: "gpt-x"}[tt.prices == ""]
			_, s, _ := priced(t, pricedSpec("{provider: openai, model: "+model+"}", ""), tt.prices, dsl.Options{Prices: pricing.Known()})
			for _, o := range s.Explain() {
				if o.Path == "llms.main.cost" && strings.HasPrefix(o.Origin, tt.want) && strings.HasPrefix(o.Value, "{input: ") {
					return
				}
			}
			t.Errorf("%+v", s.Explain())
		})
	}
}
