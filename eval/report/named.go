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
	// keyed matches a keyed part of the statistics in an expression.
	keyed = text.Regexp(`\b(stats|baseline)\??\.(by_group|by_variant|by_case|by_check|pass_at|pass_all)(?:\??\.([A-Za-z_]\w*)|(?:\?\.)?\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])`)
	// existenceTest matches a test for the existence of a key.
	existenceTest = text.Regexp(`\bin\s+(stats|baseline)\??\.(by_group|by_variant|by_case|by_check|pass_at|pass_all)\b`)
)

// missingKey returns which key of the statistics an expression uses that does not exist, or "". Missing keys would
// evaluate to 0, which passes many conditions.
func (r *Report) missingKey(source string) string {
	known := map[string]bool{}
	for _, m := range existenceTest().FindAllStringSubmatch(source, -1) {
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
		if why := describeMissing(s, m[2], m[3]+m[4]+m[5]); why != "" {
			return of + " has no " + why
		}
	}
	return ""
}

// onlyQuarantined reports whether an expression uses a group, variant or case whose cases are all quarantined, so that its
// statistics are 0.
func (r *Report) onlyQuarantined(source string) bool {
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

// vacant reports whether a part of the statistics exists without trials.
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

// describeMissing describes a missing key, or returns "".
func describeMissing(s *exprenv.Stats, kind, key string) string {
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

// fewTrials describes why pass@k is missing: no case has k graded trials.
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
	return fmt.Sprintf("case with %s graded trials, which %s[%q] needs: set repeat", key, kind, key)
}
