package accesstest

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/builtins/node"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/builtins/tool/opensearch"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/providers/badger"
	"github.com/pexctl/pex/providers/bedrock"
	httpmodel "github.com/pexctl/pex/providers/http"
	"github.com/pexctl/pex/providers/mcp"
	"github.com/pexctl/pex/providers/openai"
	"github.com/pexctl/pex/providers/scripted"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// clients are the identities of requests, by name. nia may do nothing, and eve
// belongs to the other tenant.
var clients = map[string]auth.Identity{
	"ann":  {Subject: "ann", Issuer: "tokens", Roles: []string{auth.Run, auth.Approve}},
	"rob":  {Subject: "rob", Issuer: "tokens", Roles: []string{auth.Run}},
	"vic":  {Subject: "vic", Issuer: "tokens", Roles: []string{auth.View}},
	"nia":  {Subject: "nia", Issuer: "tokens", Roles: []string{"support"}},
	"root": {Subject: "root", Issuer: "tokens", Roles: []string{auth.Admin}},
	"anon": {Subject: auth.Anonymous, Roles: []string{auth.View, auth.Run, auth.Approve, auth.Admin}},
	"eve":  {Subject: "eve", Issuer: "tokens", Tenant: "other", Roles: []string{auth.Admin}},
}

// Options change a World.
type Options struct {
	// Definitions changes the definition of each agent; nil = no change.
	Definitions func(*agents.Definition)
	// ParkAfter is how long a run with a question stays in memory; 0 = it parks at once.
	ParkAfter time.Duration
}

// World has the agents of a folder, for two tenants: the default one and other.
type World struct {
	Access *access.Server
	Log    strings.Builder // of errors; read it when no request is in flight
	t      testing.TB
	o      Options
	shared *agents.SharedMemory
	known  *catalog.Catalog
	slots  *manager.Slots
	dir    string
	of     map[string]*access.Tenant
}

// New returns a World with the agent of each folder of dir that has a spec.yaml, and the
// homes of its tenants in a folder of the test.
func New(t testing.TB, dir string, o Options) *World {
	t.Helper()
	shared := agents.NewSharedMemory(func(at catalog.MemoryPlace) memory.Store {
		return badger.Open(at.Dir, badger.Options{Tenant: at.Tenant})
	})
	t.Cleanup(func() {
		if err := shared.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &World{t: t, o: o, shared: shared, dir: t.TempDir(), of: map[string]*access.Tenant{}, slots: manager.NewSlots(manager.Limits{Running: 8, Waiting: 8})}
	w.known = &catalog.Catalog{
		Catalog: engine.Catalog{Models: component.Set[model.Settings, model.Model]{bedrock.Bedrock, httpmodel.HTTP, openai.OpenAI, scripted.Scripted}, Nodes: node.All(), Tools: slices.Concat(
			builtintool.All(), opensearch.All(new(bedrock.Signer).Sign), component.Set[tool.Settings, tool.Tool]{mcp.MCP},
		)},
		Checks: assertion.All(),
		Repair: node.RepairArguments,
		Memory: shared.Open,
	}
	w.Access = &access.Server{
		Tenant: func(name string) *access.Tenant { return w.of[name] }, Agents: w.load(dir), Streams: feed.NewStreams(64, 0),
		Log: slog.New(slog.NewTextHandler(&w.Log, nil)),
	}
	for _, name := range []string{"", "other"} {
		w.of[name] = w.tenant(name)
	}
	return w
}

// load compiles the agents of a folder.
func (w *World) load(dir string) *agents.Set {
	w.t.Helper()
	specs, err := filepath.Glob(filepath.Join(dir, "*", "spec.yaml"))
	if err != nil || len(specs) == 0 {
		w.t.Fatalf("%s has no specs: %v", dir, err)
	}
	var all []agents.Definition
	for _, spec := range specs {
		d := agents.Definition{Spec: filepath.Dir(spec)}
		if w.o.Definitions != nil {
			w.o.Definitions(&d)
		}
		all = append(all, d)
	}
	compile := w.known.Options()
	compile.Prices = pricing.Known()
	set, err := agents.Load(agents.Options{Catalog: w.known, Compile: compile}, all)
	if err != nil {
		w.t.Fatal(err)
	}
	return set
}

func (w *World) tenant(name string) *access.Tenant {
	w.t.Helper()
	home := filepath.Join(w.dir, "home")
	if name != "" {
		home = homedir.OfTenant(home, name)
	}
	service, err := runs.Open(home, host.Runs(w.known, home, host.Reporter{
		Diagnostics: func(found diag.List) error {
			if found.Failed() {
				return &host.InvalidError{Found: found}
			}
			return nil
		},
		SpecGone: func(string) {},
	}))
	if err != nil {
		w.t.Fatal(err)
	}
	m := manager.New(manager.Options{Runs: service, Slots: w.slots, Tenant: name, ParkAfter: max(w.o.ParkAfter, time.Nanosecond)})
	w.t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	memories := func() []agents.Memory { return w.Access.Agents.Memories(w.shared, home, name) }
	return &access.Tenant{Name: name, Owner: name, Home: home, Runs: service, Manager: m, Memories: memories, Artifacts: artifact.Open(home, 4096)}
}

// Tenant returns a tenant: "" or other.
func (w *World) Tenant(name string) *access.Tenant { return w.of[name] }

// Client returns a client: ann may run and approve, rob may run, vic may view, root is an
// admin, anon is a client without authentication, and eve is an admin of the other tenant.
func (w *World) Client(name string) *access.Client {
	w.t.Helper()
	c, err := w.Access.Client(auth.NewContext(w.t.Context(), clients[name]))
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// Do performs a request of a client. Problems have a form.
func (w *World) Do(h http.Handler, form problem.Form, client, method, target, body string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.t.Context(), method, target, strings.NewReader(body))
	maps.Copy(r.Header, header)
	if id, ok := clients[client]; ok {
		r = r.WithContext(auth.NewContext(r.Context(), id))
	}
	if form.Body != nil {
		r = problem.WithForm(r, form)
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, r)
	return out
}

// Runs returns how many runs the default tenant has.
func (w *World) Runs() int {
	w.t.Helper()
	found, _, err := w.of[""].Runs.List(w.t.Context(), runs.Filter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(found)
}
