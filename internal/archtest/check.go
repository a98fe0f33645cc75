package archtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Finding is a violation of a rule.
type Finding struct {
	Place   string // file:line, file or folder
	Message string // what is wrong, and how to fix it
}

// String returns "place: message".
func (f Finding) String() string { return f.Place + ": " + f.Message }

func (f Finding) path() string {
	path, _, _ := strings.Cut(f.Place, ":")
	return path
}

// Check runs all rules over a module and returns the findings sorted by path. An error means that the code could not
// be read.
func Check(t Table, m *Module) ([]Finding, error) {
	var out []Finding
	for _, rule := range []func(Table, *Module) []Finding{
		checkArrows, checkRings, checkDoors, checkPackages, checkFiles, checkWords, checkListed, checkCatalog, checkOutput, checkStartup,
	} {
		out = append(out, rule(t, m)...)
	}
	pure, err := checkPure(m)
	if err != nil {
		return nil, fmt.Errorf("builtins/node: %w", err)
	}
	out = append(out, pure...)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.path(), b.path()) })
	return slices.Compact(out), nil
}
