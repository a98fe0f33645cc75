package dsl

// Knows says whether these have the price of a provider's model, at the
// provider's own endpoint.
func (p *Prices) Knows(provider, model string) bool {
	_, _, ok := p.of(priced{provider: provider, model: model})
	return ok
}
