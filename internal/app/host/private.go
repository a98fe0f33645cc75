package host

import (
	"path/filepath"

	"github.com/pexctl/pex/dsl/protect"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/envfile"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// privatePaths returns the folders and files that tools must not access: the home, the memory, and the files of
// --env-file.
func (s Settings) privatePaths(p *engine.Program) ([]string, error) {
	out := envfile.Loaded()
	if s.Tokens != "" {
		home, err := filepath.Abs(s.Tokens)
		if err != nil {
			return nil, err
		}
		if dir, _ := fspath.OnDisk(s.Dir); fspath.Within(home, s.Dir) || fspath.Within(home, dir) {
			for _, part := range homedir.Parts {
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
func (s Settings) protected() *protect.Files {
	o := s.Catalog.Options()
	o.Root, o.AllowPaths, o.Set = s.Root, s.Allow, s.set
	return protect.New(s.Spec, o)
}
