package model

// Cost is the price of an LLM in USD per million tokens.
type Cost struct {
	Input       float64    `json:"input"`
	Output      float64    `json:"output"`
	CachedInput float64    `json:"cached_input,omitempty"` // tokens read from the cache; 0 = Input's price
	CacheWrite  float64    `json:"cache_write,omitempty"`  // tokens written to the cache; 0 = Input's price
	Above       *CostAbove `json:"above,omitempty"`        // prices of long requests; nil = the same
	MaxOutput   int        `json:"max_output,omitempty"`   // maximum output tokens of a reply; 0 = unknown
}

// DefaultOutput is the maximum output of a call under a budget if neither
// max_output_tokens nor the model's maximum is known.
const DefaultOutput = 4096

// OutputCeiling returns the maximum output tokens of a call without max_output_tokens under
// a budget: the model's maximum, or DefaultOutput.
func (c *Cost) OutputCeiling() int {
	if c == nil || c.MaxOutput == 0 {
		return DefaultOutput
	}
	return c.MaxOutput
}

// CostAbove is the price of a whole request whose input exceeds Tokens.
type CostAbove struct {
	Tokens      int     `json:"tokens"`
	Input       float64 `json:"input"`
	Output      float64 `json:"output"`
	CachedInput float64 `json:"cached_input,omitempty"`
	CacheWrite  float64 `json:"cache_write,omitempty"`
}

// Of returns the price of a call in USD; 0 for a nil Cost. Cached tokens beyond the input
// are ignored.
func (c *Cost) Of(t Tokens) float64 {
	if c == nil {
		return 0
	}
	p := c.at(t.Input)
	cached := min(t.Cached, t.Input)
	written := min(t.CacheWrite, t.Input-cached)
	fresh := t.Input - cached - written
	return (float64(fresh)*p.Input + float64(cached)*p.CachedInput + float64(written)*p.CacheWrite + float64(t.Output)*p.Output) / 1e6
}

// at returns the prices for a request with that much input, defaults applied.
func (c *Cost) at(input int) Cost {
	p := *c
	if a := c.Above; a != nil && input > a.Tokens {
		p = Cost{Input: a.Input, Output: a.Output, CachedInput: a.CachedInput, CacheWrite: a.CacheWrite}
	}
	if p.CachedInput == 0 {
		p.CachedInput = p.Input
	}
	if p.CacheWrite == 0 {
		p.CacheWrite = p.Input
	}
	return p
}

// HighestPrices returns the highest prices of input and output in USD per million for a request
// with at most that much input. How much of it is cached is unknown before the call.
func (c *Cost) HighestPrices(input int) (in, out float64) {
	for _, p := range []Cost{c.at(0), c.at(input)} {
		in, out = max(in, p.Input, p.CachedInput, p.CacheWrite), max(out, p.Output)
	}
	return in, out
}
