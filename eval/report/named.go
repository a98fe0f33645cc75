package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/text"
)

var (
	// keyed is where an expression names a part of the figures by a key.
	keyed = text.Regexp(`\b(stats|baseline)\??\.(by_group|by_variant|by_case|by_check|pass_at|pass_all)(?:\??\.([A-Za-z_]\w*)|(?:\?\.)?\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])`)
	// asked is where it asks first whether there is such a part.
	asked = text.Regexp(`\bin\s+(stats|baseline)\??\.(by_group|by_variant|by_case|by_check|pass_at|pass_all)\b`)
)

// lacks says which part of the figures an expression names that is not there,
// or "". What is not there would be read as 0, and 0 meets many a condition.
func (r *Report) lacks(source string) string {
	known := map[string]bool{}
	for _, m := range asked().FindAllStringSubmatch(source, -1) {
		known[m[1]+"."+m[2]] = true
	}
	for _, m := range keyed().FindAllStringSubmatch(source, -1) {
		s, of := &r.Stats, "it"
		if m[1] == "baseline" {
			s, of = &r.Comparison.Baseline, "the baseline"
		}
		if known[m[1]+"."+m[2]] {
			continue
		}
		if why := lacking(s, m[2], m[3]+m[4]+m[5]); why != "" {
			return of + " has no " + why
		}
	}
	return ""
}

// ofHeld says that an expression names a group, a variant or a case of which all cases
// that ran are in quarantine: its figures are 0 since there are none.
func (r *Report) ofHeld(source string) bool {
	if r.QuarantinedStats == nil {
		return false
	}
	for _, m := range keyed().FindAllStringSubmatch(source, -1) {
		if m[1] == "stats" && vacant(&r.Stats, m[2], m[3]+m[4]+m[5]) {
			return true
		}
	}
	return false
}

// vacant says that a part of the figures is there, and that no trial counts in it.
func vacant(s *exprenv.Stats, kind, key string) bool {
	switch kind {
	case "by_group":
		p, there := s.ByGroup[key]
		return there && p.Trials == 0
	case "by_variant":
		p, there := s.ByVariant[key]
		return there && p.Trials == 0
	case "by_case":
		c, there := s.ByCase[key]
		return there && c.N+c.Errors == 0
	}
	return false
}

// lacking says what figures lack: a part of a kind, by its key.
func lacking(s *exprenv.Stats, kind, key string) string {
	noun, byName := strings.CutPrefix(kind, "by_")
	if !byName {
		return fewTrials(s, kind, key)
	}
	there := keysOf(s, kind)
	if slices.Contains(there, key) {
		return ""
	}
	if len(there) == 0 {
		return fmt.Sprintf("%s %q, and no other", noun, key)
	}
	return fmt.Sprintf("%s %q: there are %s", noun, key, text.Some(there, maxListed))
}

// fewTrials says that no case has as many graded trials as pass@k asks for.
func fewTrials(s *exprenv.Stats, kind, key string) string {
	tries := s.PassAt
	if kind == "pass_all" {
		tries = s.PassAll
	}
	if _, there := tries[key]; there {
		return ""
	}
	if k, err := strconv.Atoi(key); err != nil || k < 1 || k > maxTries {
		return fmt.Sprintf("%s[%q]: the key is a number of trials, 1 to %d", kind, key, maxTries)
	}
	return fmt.Sprintf("case with %s graded trials, which %s[%q] is of: repeat says how many there are", key, kind, key)
}
