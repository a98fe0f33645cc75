package main

import (
	"path/filepath"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/protect"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/fspath"
)

// homeParts are what a home has of its own. The specs that were fetched into it
// are not among them: tools of a fetched spec work there.
var homeParts = []string{"runs", "evals", "memory", "cache", "tokens", trustName}

// privateFolders returns the folders that no tool reads or writes: the home,
// whatever its name, and the memory.
func (s hostSettings) privateFolders(p *engine.Program) ([]string, error) {
	var out []string
	if s.tokens != "" {
		home, err := filepath.Abs(s.tokens)
		if err != nil {
			return nil, err
		}
		if dir, _ := fspath.OnDisk(s.dir); fspath.Within(home, s.dir) || fspath.Within(home, dir) {
			for _, part := range homeParts {
				out = append(out, filepath.Join(home, part))
			}
		} else {
			out = append(out, home)
		}
	}
	if p.Memory.Path != "" && p.Memory.Backend != "none" {
		dir, err := memoryDir(p, s)
		if err != nil {
			return nil, err
		}
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		out = append(out, dir)
	}
	return out, nil
}

// protected returns the files of the spec that its own tools must not write.
func (s hostSettings) protected() *protect.Files {
	o := dsl.Options{Catalog: s.catalog, Checks: checkKinds().Blueprints("check"), Root: s.root, AllowPaths: s.allow, Set: s.set}
	return protect.New(s.spec, o)
}
