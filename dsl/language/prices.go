package language

import "github.com/pexctl/pex/dsl/format"

// PricesKeys is a file of kind: Prices.
type PricesKeys struct {
	APIVersion string            `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind       string            `yaml:"kind" required:"true" enum:"Prices" doc:"Prices."`
	Sources    []PriceSourceKeys `yaml:"sources" doc:"Where the prices were read, and when, by provider."`
	Prices     []PriceKeys       `yaml:"prices" required:"true" min:"1" doc:"What models cost; the first that holds for an llm counts."`
}

// PriceSourceKeys is one of sources.
type PriceSourceKeys struct {
	Provider string `yaml:"provider" required:"true" doc:"The provider, as llms name it."`
	AsOf     string `yaml:"as_of" required:"true" doc:"The day on which its prices were checked: 2026-12-31."`
	URL      string `yaml:"url" doc:"Where they stand."`
}

// PriceKeys is one of prices.
type PriceKeys struct {
	Provider     string          `yaml:"provider" required:"true" doc:"The provider, as llms name it."`
	Models       []string        `yaml:"models" required:"true" min:"1" doc:"The provider's names of the model; * stands for anything, ? and [0-9] for one character."`
	BaseURL      string          `yaml:"base_url" doc:"The base_url of the llms that it holds for, as they write it, or * for all; those without one by default."`
	Input        float64         `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output       float64         `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput  float64         `yaml:"cached_input" min:"0" doc:"USD per million input tokens from the cache; the input price by default."`
	CacheWrite   float64         `yaml:"cache_write" min:"0" doc:"USD per million input tokens that go into the cache; the input price by default."`
	CacheWrite1h float64         `yaml:"cache_write_1h" min:"0" doc:"The same for llms with cache_ttl: 1h among their options."`
	MaxOutput    int             `yaml:"max_output" min:"1" doc:"The most output tokens of one reply. Under a budget a call without max_output_tokens is bounded to it, or to a share of what is left, instead of 4096."`
	Retires      string          `yaml:"retires" doc:"The day from which the vendor serves these models no more, once it is announced: 2026-12-31. vet warns of llms that use them."`
	Above        *PriceAboveKeys `yaml:"above" doc:"Prices of a whole request whose input is longer."`
}

// PriceAboveKeys is the section above of a price.
type PriceAboveKeys struct {
	Tokens       int     `yaml:"tokens" required:"true" min:"1" doc:"Input tokens beyond which they hold."`
	Input        float64 `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output       float64 `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput  float64 `yaml:"cached_input" min:"0" doc:"USD per million input tokens from the cache; the input price by default."`
	CacheWrite   float64 `yaml:"cache_write" min:"0" doc:"USD per million input tokens that go into the cache; the input price by default."`
	CacheWrite1h float64 `yaml:"cache_write_1h" min:"0" doc:"The same for llms with cache_ttl: 1h among their options."`
}

func pricesOrder() format.Order {
	order := ofStruct(PricesKeys{})
	price := ofStruct(PriceKeys{})
	price.Below = map[string]format.Order{"above": ofStruct(PriceAboveKeys{})}
	order.Below = map[string]format.Order{
		"sources": {Below: map[string]format.Order{"*": ofStruct(PriceSourceKeys{})}},
		"prices":  {Below: map[string]format.Order{"*": price}},
	}
	return order
}
