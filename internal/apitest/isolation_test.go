package apitest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
)

// isolated starts a server with the agents that could reach other tenants.
func isolated(t *testing.T) *world {
	t.Helper()
	archive, dir := goldentest.Txtar(t, "testdata/projects/isolation.txtar"), t.TempDir()
	archive.Extract(t, dir)
	return newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
}

// response runs an agent and returns its response, and the whole result.
func (w *world) response(client, agent, body string) (response, result string) {
	w.t.Helper()
	res := w.do(client, "POST", "/v1/agents/"+agent+"/runs", http.Header{"Prefer": {"wait=60"}}, body)
	var out struct {
		Response string `json:"response"`
	}
	if err := json.Unmarshal(res.Body.Bytes(), &out); err != nil || res.Code != http.StatusOK {
		w.t.Fatal(res.Code, res.Body)
	}
	return out.Response, res.Body.String()
}

// Tenants that share the folder of a spec's memory do not share conversations.
func TestTenantsShareNoConversationsInAFolderOfTheSpec(t *testing.T) {
	w := isolated(t)
	for _, tt := range []struct{ client, want string }{{"ann", "first answer"}, {"eve", "first answer"}, {"ann", "again"}, {"eve", "again"}} {
		if got, _ := w.response(tt.client, "notes", `{"question": "Hi.", "memory_id": "chat"}`); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.client, got, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, "notes", "conv")); err != nil {
		t.Error(err)
	}
}

// The tools of a tenant read neither the home of the server nor those of other tenants.
func TestToolsReadNoRunsOfOtherTenants(t *testing.T) {
	w := isolated(t)
	for _, client := range []string{"ann", "eve"} {
		_, result := w.response(client, "reader", `{"question": "Read."}`)
		for _, file := range []string{"runs/r-1", "memory/m-1", "trust.json", "tenants/third/runs/r-1", "tenants/other/runs/r-1"} {
			if !strings.Contains(result, `\"home/`+file+`\" is closed to tools`) {
				t.Errorf("%s: %s is open", client, file)
			}
		}
		if strings.Contains(result, "secret") || !strings.Contains(result, "a public note") {
			t.Errorf("%s: %s", client, result)
		}
	}
}
