package host

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/procguard"
	"github.com/pexctl/pex/internal/app/version"
)

// Settings is the environment in which a program's host is built.
type Settings struct {
	Catalog    *catalog.Catalog
	Dir        string // the spec's folder
	Root       string // the project root
	Spec       string // the spec's file, for its entries in pex.lock; "" = no entries
	IgnorePins bool   // ignore pex.lock
	Allow      []string
	home       string
	tenant     string // whose memory
	Env        func(string) string
	// parameters are the run's, for the addresses of llms.
	Parameters map[string]any
	// Offline leaves out models that need a network or a key, and disables the network for tools. Their clock is Now,
	// if not nil.
	Offline bool
	// noPrograms forbids tools to start programs.
	NoPrograms bool
	Now        func() time.Time
	Enter      func(dir string) error // called by tools with the folders they work in
	Tokens     string                 // home with OAuth tokens; "" = Home
	Browse     func(ctx context.Context, address string) error
	cache      string   // folder for caches of tools; "" = below the home, if there is one
	embeds     embeds   // of the program of the tools
	set        []string // overrides of the spec, for finding the files it is compiled from
	// private and protect are passed to tool.Settings. newHost sets them for the outermost program; sub-agents use
	// the same.
	private []string
	protect func(path string, content []byte) error
}

// New connects a program to live models, tools and memory. It opens nothing; each part opens what it needs on first
// use.
func New(p *engine.Program, s Settings) (h engine.Host, err error) {
	h = engine.Host{Models: make(map[string]model.Model, len(p.Models)), Env: s.Env, Secrets: Hidden(s.Catalog, p, s.Env), Repair: s.Catalog.Repair}
	defer func() { err = Conceal(err, h.Secrets) }()
	for i := range p.Models {
		if s.Offline && !p.Models[i].Offline() {
			continue
		}
		m, err := NewModel(&p.Models[i], s)
		if err != nil {
			return h, fmt.Errorf("llms.%s: %w", p.Models[i].Name, err)
		}
		h.Models[p.Models[i].Name] = m
	}
	h.Embedders, s.embeds = embedders(h.Models), embedsOf(p, h.Models)
	s.Tokens = cmp.Or(s.Tokens, s.home)
	if s.cache == "" && s.home != "" {
		s.cache = filepath.Join(s.home, "cache")
	}
	if s.protect == nil {
		if s.private, err = s.privatePaths(p); err != nil {
			return h, err
		}
		s.protect = s.protected().Check
	}
	lock := s.Pins(p)
	for i := range p.Tools {
		t, err := newTool(&p.Tools[i], s)
		if err != nil {
			return h, fmt.Errorf("tools.%s: %w", p.Tools[i].Name, err)
		}
		if set, ok := t.Tool.(tool.Toolset); ok {
			lock().pin(&t, set)
		}
		h.Tools = append(h.Tools, t)
	}
	place, err := MemoryPlace(p, s)
	if err != nil {
		return h, err
	}
	if place != (catalog.MemoryPlace{}) {
		h.Memory = s.Catalog.Memory(place)
	}
	outer := h.Secrets
	h.Nested = func(p *engine.Program, parameters map[string]any) (engine.Host, error) {
		host, err := New(p, s.Within(p, parameters))
		host.Secrets = outer // also used by its sub-agents
		return host, err
	}
	return h, nil
}

// Within returns the settings for a sub-agent, which has no conversation of its own.
func (s Settings) Within(p *engine.Program, parameters map[string]any) Settings {
	s.Parameters, s.home = parameters, ""
	file := filepath.Join(s.Dir, filepath.FromSlash(p.File))
	if s.Dir = filepath.Dir(file); s.Spec != "" {
		s.Spec = file
	}
	return s
}

// NewModel connects an LLM of a program to its provider.
func NewModel(spec *engine.ModelSpec, s Settings) (model.Model, error) {
	f, ok := s.Catalog.Models.Find(spec.Provider)
	if !ok {
		return nil, fmt.Errorf("unknown provider %q", spec.Provider)
	}
	settings := model.Settings{
		Name: spec.Name, Model: spec.Params.Model, Timeout: spec.Timeout, Retry: spec.Retry,
		RateLimit: spec.RateLimit, UserAgent: version.UserAgent(), Dir: s.Dir, Root: s.Root, Allow: slices.Clone(s.Allow), Env: s.Env,
		Certificates: certificates(s.Env),
	}
	names := spec.KeyVariables().Names
	if spec.APIKeyEnv != "" {
		names = []string{spec.APIKeyEnv}
	}
	for _, name := range names {
		settings.APIKey = cmp.Or(settings.APIKey, s.Env(name))
	}
	var missing []string
	settings.BaseURL = spec.BaseURL.Render(s.Address(&missing))
	if settings.BaseURL == "" && len(missing) > 0 {
		return unreachable{missing}, nil
	}
	m, err := f.Build(spec.Config, settings)
	if err != nil && len(missing) > 0 {
		return unreachable{missing}, nil
	}
	return m, err
}

// Address returns a lookup of the values that a base_url refers to. It records missing ones.
func (s Settings) Address(missing *[]string) component.Lookup {
	return func(ns, name string) (any, bool) {
		var v any
		if ns == "parameters" {
			v = s.Parameters[name]
		} else if set := s.Env(name); set != "" {
			v = set
		}
		if v == nil {
			*missing = append(*missing, "${"+ns+"."+name+"}")
		}
		return v, v != nil
	}
}

// MemoryPlace returns where a program stores conversations; zero if it stores none.
func MemoryPlace(p *engine.Program, s Settings) (catalog.MemoryPlace, error) {
	switch {
	case p.Memory.Backend == "none" || s.home == "":
		return catalog.MemoryPlace{}, nil
	case p.Memory.Backend == "postgres":
		return catalog.MemoryPlace{Variable: p.Memory.AddressEnv, Address: s.Env(p.Memory.AddressEnv), Tenant: s.tenant}, nil
	}
	dir, err := memoryDir(p, s)
	if err != nil {
		return catalog.MemoryPlace{}, err
	}
	return catalog.MemoryPlace{Dir: filepath.Clean(dir), Tenant: s.tenant}, nil
}

// memoryDir returns the folder of conversations: below the home, or memory.path, relative to it and within the
// project.
func memoryDir(p *engine.Program, s Settings) (string, error) {
	if p.Memory.Path == "" {
		return filepath.Join(s.home, "memory"), nil
	}
	dir := p.Memory.Path
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.Dir, filepath.FromSlash(dir))
	}
	for _, within := range append([]string{s.Root, s.home}, s.Allow...) {
		if within, err := filepath.Abs(within); err == nil {
			if rel, err := filepath.Rel(within, dir); err == nil && filepath.IsLocal(rel) {
				return dir, nil
			}
		}
	}
	return "", fmt.Errorf("memory.path: %s leads out of the project %s; --allow-path allows a folder outside it", p.Memory.Path, s.Root)
}

func newTool(spec *tool.Spec, s Settings) (tool.Binding, error) {
	f, ok := s.Catalog.Tools.Find(spec.Type)
	if !ok {
		return tool.Binding{}, fmt.Errorf("unknown tool type %q", spec.Type)
	}
	t, err := f.Build(spec.Config, tool.Settings{
		Name: spec.Name, Description: spec.Description, Dir: s.Dir, Root: s.Root, Allow: slices.Clone(s.Allow),
		Env: s.Env, UserAgent: version.UserAgent(), Guard: procguard.Watch, Offline: s.Offline, NoPrograms: s.NoPrograms, Now: s.Now, Enter: s.Enter,
		Private: slices.Clone(s.private), Protect: s.protect,
		Cache: s.cache, Embeds: s.embeds, Browse: s.Browse, Tokens: NewTokenStore(s.Tokens, s.tenant),
	})
	if err != nil {
		return tool.Binding{}, err
	}
	bound := tool.Binding{Spec: spec, Tool: t, FitTo: fitToServer}
	if _, ok := t.(tool.Toolset); ok {
		return bound, nil // each of its tools has a schema of its own
	}
	if bound.Fit, err = fitTo(t.Info().Input, s.Catalog.Schemas); err != nil {
		return tool.Binding{}, fmt.Errorf("input schema: %w", err)
	}
	return bound, nil
}

// certificates returns the certificates for connections to models.
func certificates(env func(string) string) model.Certificates {
	return model.Certificates{CAFile: env("PEX_CA_FILE"), ClientCert: env("PEX_CLIENT_CERT"), ClientKey: env("PEX_CLIENT_KEY")}
}
