package model

// Cost is the price of an llm in USD per million tokens.
type Cost struct {
	Input       float64    `json:"input"`
	Output      float64    `json:"output"`
	CachedInput float64    `json:"cached_input,omitempty"` // of what the provider's cache gave; 0 = Input's price
	CacheWrite  float64    `json:"cache_write,omitempty"`  // of what went into it; 0 = Input's price
	Above       *CostAbove `json:"above,omitempty"`        // nil = long requests cost the same
	MaxOutput   int        `json:"max_output,omitempty"`   // most tokens of one reply, which bounds what it costs; 0 = not known
}

// DefaultOutput is the output tokens that a call is bounded to under a budget
// whose llm has no max_output_tokens, and whose model's own bound is not known.
const DefaultOutput = 4096

// MostOutput is the most output tokens that a call without max_output_tokens gets
// under a budget: those of the model, or DefaultOutput where they are not known.
func (c *Cost) MostOutput() int {
	if c == nil || c.MaxOutput == 0 {
		return DefaultOutput
	}
	return c.MaxOutput
}

// CostAbove is the price of a whole request whose input has more than so many
// tokens.
type CostAbove struct {
	Tokens      int     `json:"tokens"`
	Input       float64 `json:"input"`
	Output      float64 `json:"output"`
	CachedInput float64 `json:"cached_input,omitempty"`
	CacheWrite  float64 `json:"cache_write,omitempty"`
}

// Of is the price of a call in USD; a nil Cost is free. What a provider counts
// in its cache beyond the input does not count.
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

// at is the prices of a request with that much input, each of them filled in.
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

// Dearest is the most that a token of input and one of output can cost, in USD
// per million, in a request with at most so many tokens of input. It is not known
// before the call what of the input a cache gives, or takes.
func (c *Cost) Dearest(input int) (in, out float64) {
	for _, p := range []Cost{c.at(0), c.at(input)} {
		in, out = max(in, p.Input, p.CachedInput, p.CacheWrite), max(out, p.Output)
	}
	return in, out
}
