package specfs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// mostNeighbours is how many files a hint names.
const mostNeighbours = 5

// SpecsHint is the way out where a folder has no spec.yaml: what of ours lies in
// it, agents first, and in the folders right in it. Shown is how people call it.
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

// filesOfKinds are the files of a pattern in a folder that are of a kind of ours,
// sorted; those that are no agents say what they are.
func filesOfKinds(dir, pattern string) (agents, others []string) {
	found, _ := filepath.Glob(filepath.Join(globbed(dir), pattern)) // the pattern is ours
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
