package specfs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// mostNeighbours is the maximum number of files in a hint.
const mostNeighbours = 5

// SpecsHint returns the hint for a folder without a spec.yaml: its files of the
// language, agents first, and those of its direct subfolders. shown is the user's
// path.
func SpecsHint(dir, shown string) string {
	shown = filepath.ToSlash(shown)
	agents, others := filesOfKinds(dir, "*.y*ml")
	below, _ := filesOfKinds(dir, "*/"+SpecFile)
	all := append(agents, append(others, below...)...)
	if len(all) == 0 {
		return "for a directory, pexctl reads its spec.yaml; create one with pexctl init " + shown
	}
	for i, name := range all {
		all[i] = strings.TrimPrefix(shown+"/", "./") + name
	}
	more := ""
	if n := len(all) - mostNeighbours; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	hint := "for a directory, pexctl reads its spec.yaml; this one contains " + strings.Join(all[:min(len(all), mostNeighbours)], ", ") + more
	if len(all) > 1 || len(agents) == 0 {
		hint += "; to check everything below it, run pexctl vet " + shown + "/..."
	}
	return hint
}

// filesOfKinds returns the files of the language that match a pattern in a
// folder, sorted. Those that are not agents include their kind.
func filesOfKinds(dir, pattern string) (agents, others []string) {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(dir), pattern)) // the pattern is valid
	for _, file := range found {
		name, err := filepath.Rel(dir, file)
		if err != nil {
			continue
		}
		switch kind, _ := Kind(file); {
		case kind == KindAgent:
			agents = append(agents, filepath.ToSlash(name))
		case slices.Contains(Kinds, kind):
			others = append(others, fmt.Sprintf("%s (%s)", filepath.ToSlash(name), kind))
		}
	}
	return agents, others
}
