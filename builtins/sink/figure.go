package sink

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
)

// argsText is a call's arguments as people like to read them: the value alone
// when there is one, else key=value in the order of the keys.
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

// valueText is a JSON value without what JSON needs and people do not.
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

// tally is what was consumed, on one line.
func tally(u engine.Usage) string {
	s := fmt.Sprintf("%s, %s, %s tokens", text.Count(u.ModelCalls, "model call"), text.Count(u.ToolCalls, "tool call"), tty.Amount(u.Total()))
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return s
}
