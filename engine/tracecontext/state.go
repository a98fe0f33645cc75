package tracecontext

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// Limits of a tracestate. Longer ones are dropped as a whole, since the entries of others must
// not be cut: https://www.w3.org/TR/trace-context/#tracestate-limits.
const (
	maxState   = 512 // characters
	maxEntries = 32
)

// entry is one entry of a tracestate: https://www.w3.org/TR/trace-context/#tracestate-header.
var entry = text.Regexp(`^([a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$`)

// ParseState returns a tracestate without empty entries and surrounding whitespace. It returns
// "" for one that is invalid.
func ParseState(s string) string {
	if s == "" || len(s) > maxState {
		return ""
	}
	var entries []string
	known := map[string]bool{}
	for e := range strings.SplitSeq(s, ",") {
		if e = strings.Trim(e, " \t"); e == "" {
			continue
		}
		key, _, _ := strings.Cut(e, "=")
		if !entry().MatchString(e) || known[key] || len(entries) == maxEntries {
			return ""
		}
		known[key] = true
		entries = append(entries, e)
	}
	return strings.Join(entries, ",")
}
