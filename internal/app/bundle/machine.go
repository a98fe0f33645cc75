package bundle

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/host"
)

// Machine is a machine that executes runs of bundles. It is safe for concurrent use.
type Machine struct {
	Components *catalog.Catalog
	// Home is where it stores artifacts and caches, and the memory of programs that have one on
	// disk.
	Home string
	// Root is its copy of the project, absolute, for the tools that have a host; "" = none.
	Root string
	// Allow are absolute folders outside of Root that these tools may use.
	Allow []string

	mu   sync.Mutex
	kept map[string]*ready // by ID
}

// ready is a bundle with its program.
type ready struct {
	bundle  *Bundle
	program *engine.Program
}

// maxKept is how many bundles are kept open.
const maxKept = 32

// CacheFolder is the folder below a home that has the files of bundles.
const CacheFolder = "bundles"

// Env returns the environment for the run of a bundle: env, which knows only the folders of this
// machine, with the program and the files of the bundle. Runs whose start record has another program
// are refused. The errors are those of Open and of Bundle.Compile.
func (m *Machine) Env(b []byte, env runs.Env) (runs.Env, error) {
	r, err := m.open(b)
	if err != nil {
		return env, err
	}
	base := env
	env.Compile = func(start engine.Start, set ...string) (*engine.Program, error) {
		switch {
		case start.Digest != r.program.Digest:
			return nil, damaged("the run has the program %.20s, the bundle has %.20s", start.Digest, r.program.Digest)
		case len(set) == 0:
			return r.program, nil
		}
		o := r.bundle.Origin(start.Input.Origin)
		p, found := dsl.Recompile(r.bundle.program, o.Dir, host.RecompileOptions(m.Components, o, set...))
		if found.Failed() {
			return nil, &host.InvalidError{Found: found}
		}
		return p, nil
	}
	env.Connect = func(p *engine.Program, in engine.Input) (engine.Host, error) { return m.connect(r.bundle, p, in) }
	if base.Ready != nil {
		env.Ready = func(p *engine.Program, start engine.Start) error {
			start.Input.Origin = r.bundle.Origin(start.Input.Origin)
			return base.Ready(p, start)
		}
	}
	env.Current = nil
	return env, nil
}

// open returns a bundle with its program, and stores the files of the run's user.
func (m *Machine) open(b []byte) (*ready, error) {
	id := ID(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.kept[id]; r != nil {
		return r, nil
	}
	opened, err := Open(b, id, filepath.Join(m.Home, "cache", CacheFolder))
	if err != nil {
		return nil, err
	}
	if err := opened.store(m.Home); err != nil {
		return nil, fmt.Errorf("store the files of the run: %w", err)
	}
	p, err := opened.Compile(m.Components)
	if err != nil {
		return nil, err
	}
	if m.kept == nil || len(m.kept) >= maxKept {
		m.kept = map[string]*ready{}
	}
	r := &ready{opened, p}
	m.kept[id] = r
	return r, nil
}

// connect connects a program to the files of the bundle, and its tools that have a host to those of
// the machine.
func (m *Machine) connect(b *Bundle, p *engine.Program, in engine.Input) (engine.Host, error) {
	h, err := host.New(p, host.SettingsOf(m.Components, b.Origin(in.Origin), m.Home, in.Parameters))
	if err != nil {
		return h, err
	}
	h.Artifacts = m.Home
	if m.Root == "" {
		return h, nil
	}
	o, err := b.OriginIn(in.Origin, m.Root, m.Allow)
	if err != nil {
		return h, err
	}
	local, err := host.New(p, host.SettingsOf(m.Components, o, m.Home, in.Parameters))
	return withTools(h, local), err
}

// withTools returns a host with the tools of another one for the same program, as far as they have a
// host. Hosts open nothing, so the others need no Close.
func withTools(h, local engine.Host) engine.Host {
	for i := range h.Tools {
		if h.Tools[i].Spec.Host != "" {
			h.Tools[i] = local.Tools[i]
		}
	}
	nested, nestedLocal := h.Nested, local.Nested
	h.Nested = func(p *engine.Program, parameters map[string]any) (engine.Host, error) {
		own, err := nested(p, parameters)
		if err != nil {
			return own, err
		}
		local, err := nestedLocal(p, parameters)
		return withTools(own, local), err
	}
	return h
}
