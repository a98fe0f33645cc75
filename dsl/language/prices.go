package language

import "github.com/pexctl/pex/dsl/format"

// PricesKeys is a file of kind: Prices.
type PricesKeys struct {
	APIVersion string            `yaml:"apiVersion" required:"true" enum:"pex/v1" doc:"The version of the language."`
	Kind       string            `yaml:"kind" required:"true" enum:"Prices" doc:"Prices."`
	Sources    []PriceSourceKeys `yaml:"sources" doc:"The source and date of the prices, by provider."`
	Prices     []PriceKeys       `yaml:"prices" required:"true" min:"1" doc:"The prices of models. The first entry that matches an LLM is used."`
}

// PriceSourceKeys is an entry of sources.
type PriceSourceKeys struct {
	Provider string `yaml:"provider" required:"true" doc:"The name of the provider, as in llms."`
	AsOf     string `yaml:"as_of" required:"true" doc:"The date on which its prices were checked: 2026-12-31."`
	URL      string `yaml:"url" doc:"The address of the price list."`
}

// PriceKeys is an entry of prices.
type PriceKeys struct {
	Provider     string          `yaml:"provider" required:"true" doc:"The name of the provider, as in llms."`
	Models       []string        `yaml:"models" required:"true" min:"1" doc:"The provider's names for the model. * matches any text, ? and [0-9] match one character."`
	BaseURL      string          `yaml:"base_url" doc:"The base_url of the LLMs that the entry applies to, as written in llms, or * for all. Default: LLMs without base_url."`
	Input        float64         `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output       float64         `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput  float64         `yaml:"cached_input" min:"0" doc:"USD per million input tokens read from the cache. Default: the input price."`
	CacheWrite   float64         `yaml:"cache_write" min:"0" doc:"USD per million input tokens written to the cache. Default: the input price."`
	CacheWrite1h float64         `yaml:"cache_write_1h" min:"0" doc:"The same for LLMs with the option cache_ttl: 1h."`
	MaxOutput    int             `yaml:"max_output" min:"1" doc:"The maximum number of output tokens of one reply. Under a budget, a call without max_output_tokens is limited to this value or to a share of the remaining budget, instead of to 4096."`
	Retires      string          `yaml:"retires" doc:"The date on which the vendor retires these models, once announced: 2026-12-31. vet warns about LLMs that use them."`
	Above        *PriceAboveKeys `yaml:"above" doc:"Prices for the whole request if its input is longer."`
}

// PriceAboveKeys is the section above of a price.
type PriceAboveKeys struct {
	Tokens       int     `yaml:"tokens" required:"true" min:"1" doc:"The number of input tokens above which these prices apply."`
	Input        float64 `yaml:"input" required:"true" min:"0" doc:"USD per million input tokens."`
	Output       float64 `yaml:"output" required:"true" min:"0" doc:"USD per million output tokens."`
	CachedInput  float64 `yaml:"cached_input" min:"0" doc:"USD per million input tokens read from the cache. Default: the input price."`
	CacheWrite   float64 `yaml:"cache_write" min:"0" doc:"USD per million input tokens written to the cache. Default: the input price."`
	CacheWrite1h float64 `yaml:"cache_write_1h" min:"0" doc:"The same for LLMs with the option cache_ttl: 1h."`
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
