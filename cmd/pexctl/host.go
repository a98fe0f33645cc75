package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/providers/badger"
)

// hostSettings is where a program's host is built for.
type hostSettings struct {
	catalog engine.Catalog
	dir     string // the spec's folder
	root    string // the project root
	spec    string // the spec's file, for what is pinned of its servers; "" = nothing is
	loose   bool   // what is pinned does not count
	allow   []string
	home    string
	tenant  string // whose memory
	env     func(string) string
	// parameters are the run's, for the addresses of llms.
	parameters map[string]any
	// offline leaves out the models that need somebody, and closes the network
	// to tools; their clock is now, where that is not nil.
	offline bool
	// noPrograms forbids tools to start programs.
	noPrograms bool
	now        func() time.Time
	enter      func(dir string) error // asked by tools for the folders they work in
	tokens     string                 // the home that keeps what signing in gave; "" = home
	browse     func(ctx context.Context, address string) error
	cache      string   // folder for caches of tools; "" = below the home, if there is one
	embeds     embeds   // of the program that the tools are for
	set        []string // overrides of the spec, for the files that it is compiled from
	// private and protect are ToolSettings'; newHost sets them for the outermost
	// program, and those within have the same.
	private []string
	protect func(path string, content []byte) error
}

// newHost connects a program to live models, tools and memory. It opens
// nothing: each opens what it needs when it is first used.
func newHost(p *engine.Program, s hostSettings) (h engine.Host, err error) {
	h = engine.Host{Models: make(map[string]engine.Model, len(p.Models)), Env: s.env, Secrets: hidden(p, s.env), Repair: node.RepairArguments}
	defer func() { err = concealed(err, h.Secrets) }()
	for i := range p.Models {
		if s.offline && !p.Models[i].Offline() {
			continue
		}
		m, err := newModel(&p.Models[i], s)
		if err != nil {
			return h, fmt.Errorf("llms.%s: %w", p.Models[i].Name, err)
		}
		h.Models[p.Models[i].Name] = m
	}
	h.Embedders, s.embeds = embedders(h.Models), embedsOf(p, h.Models)
	s.tokens = cmp.Or(s.tokens, s.home)
	if s.cache == "" && s.home != "" {
		s.cache = filepath.Join(s.home, "cache")
	}
	if s.protect == nil {
		if s.private, err = s.privateFolders(p); err != nil {
			return h, err
		}
		s.protect = s.protected().Check
	}
	lock := s.pins(p)
	for i := range p.Tools {
		t, err := newTool(&p.Tools[i], s)
		if err != nil {
			return h, fmt.Errorf("tools.%s: %w", p.Tools[i].Name, err)
		}
		if set, ok := t.Tool.(engine.Toolset); ok {
			lock().hold(&t, set)
		}
		h.Tools = append(h.Tools, t)
	}
	if p.Memory.Backend != "none" && s.home != "" {
		dir, err := memoryDir(p, s)
		if err != nil {
			return h, err
		}
		h.Memory = badger.Open(dir, badger.Options{Tenant: s.tenant, Idle: memoryRest})
	}
	outer := h.Secrets
	h.Nested = func(p *engine.Program, parameters map[string]any) (engine.Host, error) {
		host, err := newHost(p, s.within(p, parameters))
		host.Secrets = outer // which are also those of the agents within it
		return host, err
	}
	return h, nil
}

// within is what a host needs for an agent within the one that s is of: it keeps
// no conversation of its own.
func (s hostSettings) within(p *engine.Program, parameters map[string]any) hostSettings {
	s.parameters, s.home = parameters, ""
	file := filepath.Join(s.dir, filepath.FromSlash(p.File))
	if s.dir = filepath.Dir(file); s.spec != "" {
		s.spec = file
	}
	return s
}

func newModel(spec *engine.ModelSpec, s hostSettings) (engine.Model, error) {
	f, ok := s.catalog.Models.Find(spec.Provider)
	if !ok {
		return nil, fmt.Errorf("there is no provider %q", spec.Provider)
	}
	settings := engine.ModelSettings{
		Name: spec.Name, Model: spec.Params.Model, Timeout: spec.Timeout, Retry: spec.Retry,
		RateLimit: spec.RateLimit, UserAgent: "pexctl/" + buildVersion(), Dir: s.dir, Root: s.root, Allow: slices.Clone(s.allow), Env: s.env,
		Certificates: certificates(s.env),
	}
	names := spec.KeyVariables().Names
	if spec.APIKeyEnv != "" {
		names = []string{spec.APIKeyEnv}
	}
	for _, name := range names {
		settings.APIKey = cmp.Or(settings.APIKey, s.env(name))
	}
	var missing []string
	settings.BaseURL = spec.BaseURL.Render(s.address(&missing))
	if settings.BaseURL == "" && len(missing) > 0 {
		return unreachable{missing}, nil
	}
	m, err := f.Build(spec.Config, settings)
	if err != nil && len(missing) > 0 {
		return unreachable{missing}, nil
	}
	return m, err
}

// address finds the values that a base_url refers to, and notes those that
// there are not.
func (s hostSettings) address(missing *[]string) component.Lookup {
	return func(ns, name string) (any, bool) {
		var v any
		if ns == "parameters" {
			v = s.parameters[name]
		} else if set := s.env(name); set != "" {
			v = set
		}
		if v == nil {
			*missing = append(*missing, "${"+ns+"."+name+"}")
		}
		return v, v != nil
	}
}

// memoryDir is where conversations are kept: below the home, or where the spec
// says, relative to it and within the project.
func memoryDir(p *engine.Program, s hostSettings) (string, error) {
	if p.Memory.Path == "" {
		return filepath.Join(s.home, "memory"), nil
	}
	dir := p.Memory.Path
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.dir, filepath.FromSlash(dir))
	}
	for _, within := range append([]string{s.root, s.home}, s.allow...) {
		if within, err := filepath.Abs(within); err == nil {
			if rel, err := filepath.Rel(within, dir); err == nil && filepath.IsLocal(rel) {
				return dir, nil
			}
		}
	}
	return "", fmt.Errorf("memory.path: %s leads out of the project %s; --allow-path opens a folder outside it", p.Memory.Path, s.root)
}

func newTool(spec *engine.ToolSpec, s hostSettings) (engine.HostTool, error) {
	f, ok := s.catalog.Tools.Find(spec.Type)
	if !ok {
		return engine.HostTool{}, fmt.Errorf("there is no tool type %q", spec.Type)
	}
	t, err := f.Build(spec.Config, engine.ToolSettings{
		Name: spec.Name, Description: spec.Description, Dir: s.dir, Root: s.root, Allow: slices.Clone(s.allow),
		Env: s.env, UserAgent: "pexctl/" + buildVersion(), Guard: started.ready, Offline: s.offline, NoPrograms: s.noPrograms, Now: s.now, Enter: s.enter,
		Private: slices.Clone(s.private), Protect: s.protect,
		Cache: s.cache, Embeds: s.embeds, Browse: s.browse, Vault: vaultOf(s.tokens, s.tenant),
	})
	if err != nil {
		return engine.HostTool{}, err
	}
	bound := engine.HostTool{Spec: spec, Tool: t, FitTo: fitToServer}
	if _, ok := t.(engine.Toolset); ok {
		return bound, nil // each of its tools has a schema of its own
	}
	if bound.Fit, err = fitTo(t.Info().Input); err != nil {
		return engine.HostTool{}, fmt.Errorf("input schema: %w", err)
	}
	return bound, nil
}

// fitTo makes what fits arguments to an input schema.
func fitTo(input json.RawMessage) (engine.FitFunc, error) {
	check, err := schema.Compile(input)
	if err != nil {
		return nil, err
	}
	return func(args json.RawMessage) (json.RawMessage, []engine.ArgsRepair, error) { return fit(check, args) }, nil
}

// fitToServer is fitTo for the input schema of a server's tool, which may be of
// an earlier draft. What it says that is not understood the server checks itself.
func fitToServer(input json.RawMessage) (engine.FitFunc, error) {
	check, _, err := schema.CompileForeign(input)
	if err != nil {
		return nil, err
	}
	return func(args json.RawMessage) (json.RawMessage, []engine.ArgsRepair, error) { return fit(check, args) }, nil
}

// fit coerces what loses nothing in a tool's arguments and checks the rest.
func fit(check *schema.Schema, args json.RawMessage) (fit json.RawMessage, coerced []engine.ArgsRepair, err error) {
	v, err := schema.Decode(args)
	if err != nil {
		return nil, nil, err
	}
	if check.Validate(v) == nil {
		return args, nil, nil
	}
	v, changed := check.Coerce(v)
	if err := check.Validate(v); err != nil {
		return nil, nil, err
	}
	for _, c := range changed {
		r := engine.ArgsRepair{Path: c.Path, Repair: c.Types()}
		if r.Written, err = json.Marshal(c.From); err != nil {
			return nil, nil, err
		}
		if r.Used, err = json.Marshal(c.To); err != nil {
			return nil, nil, err
		}
		coerced = append(coerced, r)
	}
	fit, err = json.Marshal(v)
	return fit, coerced, err
}
