package agents

import (
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
)

// Tenant returns a set for one tenant: the agents of s, and those that are added. An agent of s
// hides an added one with its name.
func (s *Set) Tenant() *Set { return &Set{options: s.options, base: s, agents: map[string]*Agent{}} }

// Compile compiles an agent from files in memory, by their paths. It reads nothing from the
// disk and no overrides from the environment. allow returns an error unless the agent may run;
// it replaces Options.Trust. The error is an *InvalidError if the spec has errors.
func (s *Set) Compile(d Definition, root string, files map[string][]byte, allow func(*engine.Program) error) (*Agent, error) {
	o := s.options
	o.Found, o.Trust = nil, nil
	o.Compile = memoryOptions(o.Compile, root, files)
	a, err := o.compile(d)
	if err != nil {
		return nil, err
	}
	return a, allow(a.Program)
}

// Add adds agents of the tenant, or replaces those with their names.
func (s *Set) Add(all ...*Agent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents = maps.Clone(s.agents)
	for _, a := range all {
		s.agents[a.Name] = a
	}
}

// Remove removes an agent that was added. Its runs continue.
func (s *Set) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents = maps.Clone(s.agents)
	delete(s.agents, name)
}

// Added returns an agent that was added, whether or not another one hides it.
func (s *Set) Added(name string) (*Agent, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, ok := s.agents[name]
	return a, ok && s.base != nil
}

// memoryOptions returns the options for compiling files in memory.
func memoryOptions(o dsl.Options, root string, files map[string][]byte) dsl.Options {
	o.Root, o.Set, o.Environ, o.AllowPaths, o.Pins = root, nil, nil, nil, nil
	o.Read = func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return text, nil
		}
		return nil, fs.ErrNotExist
	}
	o.List = func(dir string, _ int) (out []specfs.FileEntry, _ error) {
		for path, text := range files {
			if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
				out = append(out, specfs.FileEntry{Name: filepath.ToSlash(rel), Size: int64(len(text))})
			}
		}
		return out, nil
	}
	return o
}
