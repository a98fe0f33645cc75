package apitest_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/builtins/node"
	formats "github.com/pexctl/pex/builtins/report"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/syncbuffer"
	"github.com/pexctl/pex/providers/badger"
	"github.com/pexctl/pex/providers/cassette"
	"github.com/pexctl/pex/providers/openai"
	"github.com/pexctl/pex/providers/scripted"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/webhook"
)

// clients are the identities of requests, by name.
var clients = map[string]auth.Identity{
	"ann":  {Subject: "ann", Issuer: "tokens", Roles: []string{auth.Run}},
	"bea":  {Subject: "bea", Issuer: "tokens", Roles: []string{auth.Approve}},
	"vic":  {Subject: "vic", Issuer: "tokens", Roles: []string{auth.View}},
	"root": {Subject: "root", Issuer: "tokens", Roles: []string{auth.Admin}},
	"eve":  {Subject: "eve", Issuer: "tokens", Tenant: "other", Roles: []string{auth.Admin}},
	"none": {Subject: "none", Issuer: "tokens"},
}

// world is a server with the agents in the folders of a project.
type world struct {
	t       testing.TB
	dir     string
	catalog *catalog.Catalog
	memory  *agents.SharedMemory
	agents  *agents.Set
	slots   *manager.Slots
	tenants map[string]*access.Tenant
	streams *feed.Streams
	hooks   *webhook.Dispatcher // with one hook, chat, of the default tenant
	access  *access.Server
	handler http.Handler // without the identities of requests
	change  func(*manager.Options)
	log     *syncbuffer.Buffer
}

// newWorld starts a server. project is a folder with a folder for each agent.
func newWorld(t testing.TB, project string, slots *manager.Slots) *world {
	t.Helper()
	return newWorldWith(t, project, slots, func(*manager.Options) {})
}

// newWorldWith is newWorld with other options of the managers of all tenants.
func newWorldWith(t testing.TB, project string, slots *manager.Slots, change func(*manager.Options)) *world {
	t.Helper()
	shared := agents.NewSharedMemory(func(at catalog.MemoryPlace) memory.Store {
		return badger.Open(at.Dir, badger.Options{Tenant: at.Tenant})
	})
	t.Cleanup(func() {
		if err := shared.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{
		t: t, dir: project, slots: slots, memory: shared, streams: feed.NewStreams(64, 0), tenants: map[string]*access.Tenant{}, change: change, log: &syncbuffer.Buffer{},
	}
	w.catalog = &catalog.Catalog{
		Catalog: engine.Catalog{
			Models: component.Set[model.Settings, model.Model]{scripted.Scripted, openai.OpenAI},
			Tools:  builtintool.All(),
			Nodes:  node.All(),
		},
		Checks: assertion.All(),
		Repair: node.RepairArguments,
		Memory: shared.Open,
	}
	var all []agents.Definition
	specs, err := filepath.Glob(filepath.Join(project, "*", "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		all = append(all, agents.Definition{Spec: filepath.Dir(spec), Roles: rolesOf(filepath.Base(filepath.Dir(spec)))})
	}
	compile := w.catalog.Options()
	compile.Prices = pricing.Known()
	if w.agents, err = agents.Load(agents.Options{Catalog: w.catalog, Compile: compile}, all); err != nil {
		t.Fatal(err)
	}
	w.hooks = webhook.New(webhook.Options{Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := w.hooks.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"", "other"} {
		w.tenants[name] = w.tenant(name)
	}
	if err := w.hooks.SetHooks([]*webhook.Hook{w.hook()}); err != nil {
		t.Fatal(err)
	}
	w.access = &access.Server{
		Tenant: func(name string) *access.Tenant { return w.tenants[name] }, Agents: w.agents, Streams: w.streams,
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	w.handler = api.New(api.Options{Access: w.access, Export: w.export, Version: "test", Report: writeReport})
	return w
}

// rolesOf restricts the agent called secret to admins.
func rolesOf(agent string) map[string][]string {
	if agent != "secret" {
		return nil
	}
	return map[string][]string{auth.View: {}, auth.Run: {}, auth.Approve: {}}
}

func (w *world) tenant(name string) *access.Tenant {
	w.t.Helper()
	home := filepath.Join(w.dir, "home")
	if name != "" {
		home = homedir.OfTenant(home, name)
	}
	service, err := runs.Open(home, host.Runs(w.catalog, home, host.Reporter{
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
	hooks := w.hooks.Open(webhook.Tenant{Name: name, Home: home, Replay: func(ctx context.Context, run string, to engine.Sink) error {
		r, err := service.Read(run)
		if err == nil {
			r.Watch(ctx, nil, to)
		}
		return err
	}})
	o := manager.Options{Runs: service, Slots: w.slots, Tenant: name, ParkAfter: time.Nanosecond, Outbox: outbox{hooks}}
	w.change(&o)
	m := manager.New(o)
	w.t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	memories := func() []agents.Memory { return w.agents.Memories(w.memory, home, name) }
	return &access.Tenant{Name: name, Owner: name, Home: home, Runs: service, Manager: m, Memories: memories, Artifacts: artifact.Open(home, 4096), Evals: filepath.Join(home, "evals"), Webhooks: hooks}
}

func writeReport(to io.Writer, format string, r *report.Report, rows trial.Rows) error {
	f, err := formats.New(format, formats.Settings{})
	if err != nil {
		return err
	}
	return f.Write(to, r, rows)
}

func (w *world) export(to io.Writer, r *runs.Run) error {
	err := cassette.Export(to, r.Records, host.Secrets(w.catalog, r.Program, r.Host.Env))
	if refused, ok := errors.AsType[*cassette.Refused](err); ok {
		return problem.New(problem.NotExportable, "%v", refused)
	}
	return err
}

// identified authenticates requests by the name of a client in a header.
func identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := clients[r.Header.Get("X-Client")]; ok {
			r = r.WithContext(auth.NewContext(r.Context(), id))
		}
		next.ServeHTTP(w, r)
	})
}

// do performs a request.
func (w *world) do(client, method, target string, header http.Header, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	maps.Copy(r.Header, header)
	r.Header.Set("X-Client", client)
	out := httptest.NewRecorder()
	identified(w.handler).ServeHTTP(out, r)
	return out
}

// await waits until a run of the default tenant neither executes nor is queued.
func (w *world) await(run string) { w.tenants[""].Manager.Await(w.t.Context(), run) }

// damage changes a byte of the journal of a run.
func (w *world) damage(run string) {
	w.t.Helper()
	file := w.tenants[""].Runs.Home().File(run)
	b, err := os.ReadFile(file)
	if err == nil {
		b[len(b)/2] ^= 1
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
