package host

import (
	"path/filepath"

	"github.com/pexctl/pex/dsl/protect"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/envfile"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// privatePaths returns the folders and files that tools must not access: the home, that of the server around a
// tenant's home, the memory, and the files of --env-file.
func (s Settings) privatePaths(p *engine.Program) ([]string, error) {
	out := envfile.Loaded()
	if s.Tokens != "" {
		home, err := filepath.Abs(s.Tokens)
		if err != nil {
			return nil, err
		}
		out = append(out, s.privateParts(home)...)
		if shared := homedir.Shared(home); shared != "" {
			out = append(out, s.privateParts(shared)...)
		}
	}
	if p.Memory.Path != "" && p.Memory.Backend == "badger" {
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

// privateParts returns the private parts of a home: all of it, unless it contains the spec.
func (s Settings) privateParts(home string) (out []string) {
	if !s.isBelow(home) {
		return []string{home}
	}
	for _, part := range homedir.Parts {
		if part := filepath.Join(home, part); filepath.Base(part) != homedir.TenantsFolder || !s.isBelow(part) {
			out = append(out, part)
		}
	}
	return out
}

// isBelow reports whether the spec is in a folder.
func (s Settings) isBelow(dir string) bool {
	real, _ := fspath.OnDisk(s.Dir)
	return fspath.Within(dir, s.Dir) || fspath.Within(dir, real)
}

// protected returns the files of the spec that its own tools must not write.
func (s Settings) protected() *protect.Files {
	o := s.Catalog.Options()
	o.Root, o.AllowPaths, o.Set = s.Root, s.Allow, s.set
	return protect.New(s.Spec, o)
}
