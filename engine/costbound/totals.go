package costbound

// Totals are sums of calls, tokens and cost, comparable with ==.
type Totals struct {
	Calls  Count `json:"calls"`         // of models
	Extra  Count `json:"extra"`         // retries, since lost answers are billed
	Input  Count `json:"input_tokens"`  // of calls and retries
	Output Count `json:"output_tokens"` // likewise
	Tokens Count `json:"tokens"`        // input and output
	Cost   Money `json:"cost_usd"`
}

func (t Totals) plus(o Totals) Totals {
	return Totals{
		t.Calls.plus(o.Calls), t.Extra.plus(o.Extra), t.Input.plus(o.Input), t.Output.plus(o.Output),
		t.Tokens.plus(o.Tokens), t.Cost.plus(o.Cost),
	}
}

func (t Totals) times(n Count) Totals {
	return Totals{t.Calls.times(n), t.Extra.times(n), t.Input.times(n), t.Output.times(n), t.Tokens.times(n), t.Cost.times(n)}
}

// or returns the higher of each quantity.
func (t Totals) or(o Totals) Totals {
	return Totals{
		t.Calls.or(o.Calls), t.Extra.or(o.Extra), t.Input.or(o.Input), t.Output.or(o.Output),
		t.Tokens.or(o.Tokens), t.Cost.or(o.Cost),
	}
}

// Minus returns what is left of a worst case after calls whose usage is known. Retries are not
// calls.
func (t Totals) Minus(calls, input, output int, cost float64) Totals {
	t.Calls, t.Cost = t.Calls.minus(calls), t.Cost.minus(cost)
	t.Input, t.Output, t.Tokens = t.Input.minus(input), t.Output.minus(output), t.Tokens.minus(input+output)
	return t
}

// unknown returns unbounded totals.
func unknown(why string) Totals {
	n, usd := unbounded[int](why), unbounded[float64](why)
	return Totals{n, n, n, n, n, usd}
}
