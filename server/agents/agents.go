package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/runfile"
	"github.com/pexctl/pex/internal/app/version"
)

// Definition says which spec an agent runs, and for whom.
type Definition struct {
	Name   string // "" = that of the spec
	Spec   string // file or folder
	Set    []string
	Expose []string // protocols by which clients reach it besides the API; nil = all
	// AllowSet are the keys that clients may override: limits.NAME or llms.NAME.model, with
	// * for all names; nil = DefaultAllowSet.
	AllowSet []string
	Roles    map[string][]string // roles that may perform an action, by action
	OnBusy   string              // see manager.OnBusy
}

// Exposes reports whether clients reach the agent by a protocol, such as openai.
func (d *Definition) Exposes(protocol string) bool {
	return d.Expose == nil || slices.Contains(d.Expose, protocol)
}

// Agent is a compiled agent.
type Agent struct {
	Definition
	Program *engine.Program
	Spec    *dsl.Spec
	options Options
	vet     func() diag.List // nil without a file
}

// Diagnostics returns what pexctl vet reports about the file of the spec, nothing if there is none.
// It reads the file at the first call.
func (a *Agent) Diagnostics() diag.List {
	if a.vet == nil {
		return nil
	}
	return a.vet()
}

// Options say how agents are compiled and connected.
type Options struct {
	Catalog *catalog.Catalog
	Compile dsl.Options           // with the flags of the command
	Trust   func(*dsl.Spec) error // returns an error unless the files of the spec may start programs
	Found   func(diag.List)       // receives the diagnostics of specs; may be nil
}

// Set has the agents of a server. It is safe for concurrent use.
type Set struct {
	options Options
	base    *Set // of the server; nil for the server's own
	mu      sync.RWMutex
	agents  map[string]*Agent
}

// Load compiles agents. The error is an *InvalidError if specs have errors.
func Load(o Options, all []Definition) (*Set, error) {
	s := &Set{options: o}
	return s, s.Reload(all)
}

// InvalidError reports specs with errors.
type InvalidError struct{ Found diag.List }

// Error returns the first error.
func (e *InvalidError) Error() string {
	i := slices.IndexFunc(e.Found, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
	return e.Found[max(i, 0)].Message
}

// Reload compiles agents again and replaces those of the set, unless it returns an error.
func (s *Set) Reload(all []Definition) error {
	agents, invalid := map[string]*Agent{}, diag.List{}
	for _, d := range all {
		a, err := s.options.compile(d)
		if bad, ok := errors.AsType[*InvalidError](err); ok {
			invalid = append(invalid, bad.Found...)
			continue
		}
		if err != nil {
			return err
		}
		if other := agents[a.Name]; other != nil {
			return fmt.Errorf("two agents are named %s: %s and %s; give one another name in a server file", a.Name, other.Spec.File, a.Spec.File)
		}
		agents[a.Name] = a
	}
	if len(invalid) > 0 {
		return &InvalidError{invalid}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents = agents
	return nil
}

func (o Options) compile(d Definition) (*Agent, error) {
	c := o.Compile
	c.Set = slices.Concat(c.Set, d.Set)
	p, spec, found := dsl.Compile(d.Spec, c)
	if p == nil {
		return nil, &InvalidError{found}
	}
	if o.Found != nil {
		o.Found(found)
	}
	if o.Trust != nil {
		if err := o.Trust(spec); err != nil {
			return nil, err
		}
	}
	d.Name = cmp.Or(d.Name, p.Name)
	if d.AllowSet == nil {
		d.AllowSet = DefaultAllowSet()
	}
	return &Agent{Definition: d, Program: p, Spec: spec, options: o, vet: sync.OnceValue(func() diag.List {
		c.Analyzers = analysis.All()
		_, found := dsl.Vet(d.Spec, c)
		return found
	})}, nil
}

// Get returns an agent.
func (s *Set) Get(name string) (*Agent, bool) {
	if s.base != nil {
		if a, ok := s.base.Get(name); ok {
			return a, true
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, ok := s.agents[name]
	return a, ok
}

// All returns the agents, sorted by name.
func (s *Set) All() []*Agent {
	s.mu.RLock()
	all := s.agents
	s.mu.RUnlock()
	if s.base != nil {
		all = maps.Clone(all)
		for _, a := range s.base.All() {
			all[a.Name] = a
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *Agent) int { return strings.Compare(a.Name, b.Name) })
}

// Request is a request for a run.
type Request struct {
	RunID            string
	Question         string
	Parameters       []byte // JSON object; nil = none
	MemoryID         string
	ExecutorMemoryID string
	Earlier          []memory.Interaction
	EarlierOnly      bool     // see engine.Input
	Set              []string // overrides of the spec, for this run
	Files            []File
	Labels           map[string]string
	By               engine.Actor
	Digest           string              // of the request; see engine.Input.Request
	Trace            tracecontext.Caller // of the request
	Tenant           string              // owner of the conversations; "" = the default tenant
	Home             string
}

// File is a file for a run: an artifact of its home.
type File struct {
	Name     string // in prompts
	Artifact string // SHA-256
}

// ParametersError reports parameters that the agent does not accept.
type ParametersError struct{ Err error }

// Error returns the mistakes, one per line.
func (e *ParametersError) Error() string { return e.Err.Error() }

// TakesFiles reports whether models or tools of the agent read the files of a run.
func (a *Agent) TakesFiles() bool {
	return len(a.Program.FileModels()) > 0 || runfile.ReadersOf(a.Program, a.Spec.Dir).Given()
}

// Prepare returns a run of the agent that can be started. The error is a *ParametersError,
// an *attachment.Error for a file that the run cannot have or, for overrides that do not fit, an *InvalidError. If the run is not started, the caller
// must close its Host.
func (a *Agent) Prepare(r Request) (runs.NewRun, error) {
	p, origin := a.Program, a.origin(r.Tenant)
	if len(r.Set) > 0 {
		var err error
		if p, err = a.options.recompile(p.Source, origin, a.options.Compile.Prices, r.Set, nil); err != nil {
			return runs.NewRun{}, err
		}
	}
	params, err := dsl.Inputs(p, r.Question, nil, r.Parameters)
	if err != nil {
		return runs.NewRun{}, &ParametersError{err}
	}
	by := r.By.Identity()
	in := engine.Input{
		RunID: r.RunID, Parameters: params, MemoryID: r.MemoryID, ExecutorMemoryID: r.ExecutorMemoryID,
		Earlier: r.Earlier, EarlierOnly: r.EarlierOnly, Agent: a.Name, Labels: r.Labels, By: &by, Request: r.Digest, Origin: origin, Trace: r.Trace.Parent, TraceState: r.Trace.State,
	}
	for _, f := range r.Files {
		if in.Artifacts == nil {
			in.Artifacts = map[string]string{}
		}
		in.Files, in.Artifacts[f.Name] = append(in.Files, f.Name), f.Artifact
	}
	if len(in.Files) > 0 {
		if err := runfile.Attach(p, &in, r.Home, runfile.ReadersOf(p, a.Spec.Dir)); err != nil {
			return runs.NewRun{}, err
		}
	}
	h, err := host.New(p, host.SettingsOf(a.options.Catalog, origin, r.Home, params))
	if err != nil {
		return runs.NewRun{}, errors.Join(err, h.Close())
	}
	return runs.NewRun{Program: p, Input: in, Host: h}, nil
}

// origin returns the origin of the program for a tenant.
func (a *Agent) origin(tenant string) *engine.Origin {
	compile := a.options.Compile
	return &engine.Origin{
		Spec: a.Spec.Path(), Dir: a.Spec.Dir, Root: a.Spec.Root, Allow: compile.AllowPaths, Set: slices.Concat(compile.Set, a.Set), Tenant: tenant,
		Environ: host.Overrides(os.Environ()), Version: version.String(), Prices: compile.Prices.Used(),
	}
}

// recompile compiles a program with overrides and edits of prompts, without reading files, and
// updates its origin. The error is an *InvalidError if it has errors.
func (o Options) recompile(source json.RawMessage, origin *engine.Origin, prices *pricing.Table, set []string, prompts map[string]string) (*engine.Program, error) {
	origin.Set = slices.Concat(origin.Set, set)
	with := host.RecompileOptions(o.Catalog, origin, set...)
	with.Prices, with.Prompts = prices, prompts
	p, found := dsl.Recompile(source, origin.Dir, with)
	if found.Failed() || p == nil {
		return nil, &InvalidError{found}
	}
	host.RecordEdits(origin, prompts, p)
	origin.Prices = prices.Used()
	return p, nil
}

// Shown returns the path of the spec, for messages.
func (a *Agent) Shown() string { return fspath.Shown(a.Spec.File) }
