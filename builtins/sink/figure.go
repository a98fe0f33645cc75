package sink

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
)

// argsText formats a call's arguments for people: the value of a single argument, else
// key=value pairs sorted by key.
func argsText(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return string(args)
	}
	if len(fields) == 1 {
		for _, v := range fields {
			return valueText(v, false)
		}
	}
	parts := make([]string, 0, len(fields))
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, k+"="+valueText(fields[k], true))
	}
	return strings.Join(parts, " ")
}

// valueText formats a JSON value, without quotes if they are not needed. among reports
// whether there are other arguments.
func valueText(v json.RawMessage, among bool) string {
	var s string
	if json.Unmarshal(v, &s) == nil && (!among || s != "" && !strings.ContainsAny(s, " \t\n\"'=")) {
		return s
	}
	var loose any
	if jsonvalue.Unmarshal(v, &loose) != nil {
		return string(v)
	}
	b, err := jsonvalue.Marshal(loose)
	if err != nil {
		return string(v)
	}
	return string(b)
}

// tally formats the usage of a run on one line.
func tally(u engine.Usage) string {
	calls := "model call"
	if u.ModelCalls == 0 {
		calls = "completed model call" // one may have failed
	}
	s := fmt.Sprintf("%s, %s, %s tokens", text.Count(u.ModelCalls, calls), text.Count(u.ToolCalls, "tool call"), text.Amount(u.Total()))
	if u.CostUSD > 0 {
		s += ", " + money(u.CostUSD)
	}
	return s
}

// money formats an amount in USD.
func money(usd float64) string { return fmt.Sprintf("$%.4f", usd) }
