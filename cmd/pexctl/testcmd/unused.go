package testcmd

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// unused returns the golden files that no case of the plan uses, in folders all
// of whose cases are in the plan.
func (p *testPlan) unused() ([]golden.Change, error) {
	known, err := p.completeFolders()
	if err != nil {
		return nil, err
	}
	var out []golden.Change
	for _, t := range p.units.sortedTrees() {
		folders := slices.DeleteFunc(t.Folders(), func(dir string) bool {
			return !slices.ContainsFunc(known[t.root], func(home string) bool { return isBelow(dir, home) })
		})
		for _, home := range known[t.root] {
			folders = append(folders, goldenFolders(home)...)
		}
		more, err := t.Unused(folders...)
		if err != nil {
			return nil, failure.Infra(err)
		}
		out = append(out, more...)
	}
	return out, nil
}

// completeFolders returns the folders of specs, by project root, all of whose tests are in
// the plan. Other specs in the same folder store their golden files in the same
// place.
func (p *testPlan) completeFolders() (map[string][]string, error) {
	out := map[string][]string{}
	for _, u := range p.units.order {
		if !slices.Contains(p.completeSpecs, fspath.Real(u.File)) || slices.Contains(out[u.Root], u.Dir) {
			continue
		}
		all, err := specfs.TestsBeside(u.File)
		if err != nil {
			return nil, failure.Infra(err)
		}
		if !slices.ContainsFunc(all, func(path string) bool { return !slices.Contains(p.files, fspath.Real(path)) }) {
			out[u.Root] = append(out[u.Root], u.Dir)
		}
	}
	return out, nil
}

// goldenFolders returns the folders in which the cases beside a spec store golden
// files by default, including those of removed cases.
func goldenFolders(dir string) []string {
	found, err := filepath.Glob(filepath.Join(dir, "tests", "*", "golden"))
	if err != nil {
		return nil // a bracket in a spec's folder: check only what cases use
	}
	return found
}

func isBelow(path, dir string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
