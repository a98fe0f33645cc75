package dsl

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
)

// Programs compiles the specs of tests and suites, each combination of a file and
// its overrides once. It is safe for concurrent use.
type Programs struct {
	options Options
	mu      sync.Mutex // guards done
	done    map[string]*compiled
}

type compiled struct {
	once  sync.Once
	spec  *Spec
	found diag.List
}

// NewPrograms uses the options without their overrides and analyzers: overrides
// apply to the file that a command names, not to files named in it, and a spec is
// analyzed where it is named.
func NewPrograms(o Options) *Programs {
	o.Set, o.Prompts, o.Environ, o.Programs, o.Analyzers = nil, nil, nil, nil, nil
	return &Programs{options: o, done: map[string]*compiled{}}
}

// Compile returns the program of a spec with overrides "path=yaml", and its
// diagnostics. The program is nil if there is an error. Tests in the spec are not
// checked.
func (p *Programs) Compile(path string, set []string) (*engine.Program, *Spec, diag.List) {
	s, found := p.load(path, path, set)
	if s == nil || s.program == nil {
		if s != nil {
			_, found = s.Compile()
		}
		return nil, s, found
	}
	return s.program, s, found
}

// load is like Compile, with another path for messages.
func (p *Programs) load(path, shown string, set []string) (*Spec, diag.List) {
	path = specfs.InFolder(path, specfs.SpecFile)
	key := path
	if abs, err := filepath.Abs(path); err == nil {
		key = abs
	}
	key += "\x00" + strings.Join(set, "\x00")
	p.mu.Lock()
	c := p.done[key]
	if c == nil {
		c = &compiled{}
		p.done[key] = c
	}
	p.mu.Unlock()
	c.once.Do(func() {
		l := newLoader(p.options)
		l.options.Set, l.skipTests = set, true
		if src := l.openFile(path, shown, specfs.Root); src != nil {
			c.spec = l.loadSource(src)
		}
		c.found = l.Report.List.Sort()
		if c.spec != nil {
			c.spec.found = c.found
		}
	})
	return c.spec, c.found
}

// programs returns the programs of the options, or its own.
func (l *loader) programs() *Programs {
	if l.options.Programs == nil {
		l.options.Programs = NewPrograms(l.options)
	}
	return l.options.Programs
}
