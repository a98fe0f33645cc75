package worstcase

// Totals are what may be asked in all. Two of them can be compared by ==.
type Totals struct {
	Calls  Count `json:"calls"`         // of models
	Extra  Count `json:"extra"`         // further attempts of them: answers that get lost are billed all the same
	Input  Count `json:"input_tokens"`  // of both,
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

// or is the higher of each.
func (t Totals) or(o Totals) Totals {
	return Totals{
		t.Calls.or(o.Calls), t.Extra.or(o.Extra), t.Input.or(o.Input), t.Output.or(o.Output),
		t.Tokens.or(o.Tokens), t.Cost.or(o.Cost),
	}
}

// unknown is totals of which nothing is known.
func unknown(why string) Totals {
	n, usd := never[int](why), never[float64](why)
	return Totals{n, n, n, n, n, usd}
}
