//go:build e2e && linux

package fleettest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// judge compares what the runs returned with what the ledger has. It returns what is wrong.
func judge(l *ledger, z size, results map[string]*result, response string) []string {
	wrong := l.repeated()
	for _, id := range slices.Sorted(maps.Keys(results)) {
		r, told := results[id], l.of(id)
		if r.Status != "completed" || r.Response != response || len(r.Steps) != z.steps {
			wrong = append(wrong, fmt.Sprintf("run %s ended %s with %d steps and the answer %q, want %q", id, r.Status, len(r.Steps), r.Response, response))
		}
		if len(told) != z.steps*z.writes {
			wrong = append(wrong, fmt.Sprintf("run %s: the ledger has %d writes, want %d", id, len(told), z.steps*z.writes))
		}
		receipts := r.receipts()
		for _, entry := range slices.Sorted(maps.Keys(told)) {
			if receipts[entry] != told[entry] {
				wrong = append(wrong, fmt.Sprintf("run %s: the ledger told %s for the write %s, the run has %q", id, told[entry], entry, receipts[entry]))
			}
		}
		for entry := range receipts {
			if told[entry] == "" {
				wrong = append(wrong, fmt.Sprintf("run %s has a result of the write %s, which was not performed", id, entry))
			}
		}
	}
	for id, n := range l.entries() {
		if results[id] == nil {
			wrong = append(wrong, fmt.Sprintf("the ledger has %d writes of the run %s, which did not end", n, id))
		}
	}
	return wrong
}

// firstOf shortens a list for a message.
func firstOf(lines []string) string {
	const most = 20
	if len(lines) > most {
		lines = append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more", len(lines)-most))
	}
	return strings.Join(lines, "\n")
}
