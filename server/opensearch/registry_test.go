package opensearch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/server/registry"
)

// A change of a connector reaches the agents that use it, or is rejected as a whole.
func TestConnectorsOfAgents(t *testing.T) {
	w := newWorld(t)
	w.register()
	model := func() string {
		t.Helper()
		a, ok := w.Tenant("").Agents.Get(w.ids["agent_id"])
		if !ok {
			t.Fatal("the agent is gone")
		}
		return a.Program.Models[0].Params.Model
	}
	w.want(200, "root", "PUT", "/connectors/{connector_id}", `{"parameters": {"model": "gpt-5"}}`)
	if got := model(); got != "gpt-5" {
		t.Error(got)
	}
	actions := strings.Replace(connector[strings.Index(connector, `"actions"`):], "{model}", "http://10.0.0.1", 1)
	w.want(400, "root", "PUT", "/connectors/{connector_id}", `{"parameters": {"model": "other"}, `+actions)
	if got := model(); got != "gpt-5" {
		t.Error(got)
	}
	w.open()
	if got := model(); got != "gpt-5" {
		t.Error("after a restart:", got)
	}
}

// A damaged file is left alone, and the others are read.
func TestDamagedDocuments(t *testing.T) {
	w := newWorld(t)
	w.register()
	id, _, err := w.tenants[""].Create(registry.Memories, registry.Body{"name": "x"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.Tenant("").Home, "registered")
	file := filepath.Join(dir, "memories", id+".json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "models", w.ids["model_id"]+".json"), filepath.Join(dir, "models", "moved")); err != nil {
		t.Fatal(err)
	}
	w.open()
	r := w.tenants[""]
	if _, err := r.Get(registry.Memories, id); !errors.As(err, new(*registry.NotFoundError)) {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if err := r.Broken(w.ids["agent_id"]); !errors.As(err, new(*registry.NotFoundError)) {
		t.Error("an agent whose model is gone:", err)
	}
	if _, err := r.Get(registry.Connectors, w.ids["connector_id"]); err != nil {
		t.Error(err)
	}
	if err := r.Update(registry.Connectors, "none", nil); !errors.As(err, new(*registry.NotFoundError)) {
		t.Error(err)
	}
}
