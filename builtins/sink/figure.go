package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
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
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if d.Decode(&loose) != nil {
		return string(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(loose) != nil {
		return string(v)
	}
	return strings.TrimSpace(b.String())
}

// amount writes a count of tokens: 950, 1.2k, 3.4M.
func amount(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Span writes a duration: 12ms, 3.4s, 2m5s.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d, 0).Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Ago writes how long something is past, in its largest unit: now, 3m ago, 2d ago.
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	}
	return fmt.Sprintf("%dd ago", d/day)
}

// tally is what was consumed, on one line.
func tally(u engine.Usage) string {
	s := fmt.Sprintf("%s, %s, %s tokens", plural(u.ModelCalls, "model call"), plural(u.ToolCalls, "tool call"), amount(u.Total()))
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return s
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
