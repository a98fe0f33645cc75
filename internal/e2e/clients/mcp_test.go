//go:build e2e && unix

package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/internal/e2e/clients"
)

// mcpFiles are the agents that the scenarios of the conformance suite call, by their names.
func mcpFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"server.yaml", "simple.yaml", "failing.yaml", "asks.yaml"} {
		b, err := os.ReadFile(filepath.Join("testdata", "mcp", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	return files
}

func TestClientsOfMCP(t *testing.T) {
	s := clients.Serve(t, []string{"hello", "refund-desk"}, mcpFiles(t))
	t.Run("limits", func(t *testing.T) { clients.Run(t, "mcp", "limits", s.URL) })
	t.Run("approval elsewhere", func(t *testing.T) { clients.Run(t, "mcp", "elsewhere", s.URL) })
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run("elicit "+revision, func(t *testing.T) { clients.Run(t, "mcp", "elicit", s.URL, revision) })
		t.Run("conformance "+revision, func(t *testing.T) {
			got := strings.Fields(clients.Run(t, "mcp", "conformance", s.URL, revision))
			if d := cmp.Diff(notApplicable(t, revision), got); d != "" {
				t.Errorf("checks that fail (-listed +found):\n%s", d)
			}
		})
	}
	t.Run("inspector", func(t *testing.T) {
		list := clients.Run(t, "mcp", "inspector", s.URL+"/mcp", "--method", "tools/list", "--strict")
		if !strings.Contains(list, `"name": "hello"`) {
			t.Error(list)
		}
		call := clients.Run(t, "mcp", "inspector", s.URL+"/mcp", "--method", "tools/call", "--tool-name", "hello", "--tool-arg", "question=What is 17% of 2349.50?")
		if !strings.Contains(call, "399.415") {
			t.Error(call)
		}
	})
	t.Run("approval by the API after a restart", func(t *testing.T) {
		waits := clients.Run(t, "mcp", "inspector", s.URL+"/mcp", "--method", "tools/call", "--tool-name", "refund-desk")
		var result struct {
			Meta map[string]string `json:"_meta"`
		}
		if err := json.Unmarshal([]byte(waits), &result); err != nil || !strings.Contains(waits, "waits for a decision") {
			t.Fatal(waits, err)
		}
		run := result.Meta["pexctl.dev/run_id"]
		s.Restart()
		s.Post("/v1/runs/"+run+"/answers", `{"path": "step.s3/turn.1/tool.0.approval", "do": "approve"}`)
		end := clients.Run(t, "mcp", "inspector", s.URL+"/mcp", "--method", "tools/call", "--tool-name", "run_get", "--tool-arg", "run="+run)
		if !strings.Contains(end, `"pexctl.dev/status": "completed"`) {
			t.Error(end)
		}
	})
}

func TestClientsOfMCPOverStdio(t *testing.T) {
	program := e2e.Built(t, "cmd/pexctl")
	call := clients.Run(t, "mcp", "inspector", program, "mcp", "serve", filepath.Join("..", "..", "..", "specs", "hello"), "--home", t.TempDir(), "--method", "tools/call", "--tool-name", "hello")
	if !strings.Contains(call, "399.415") {
		t.Error(call)
	}
}

// notApplicable returns the checks of a revision that an agent cannot pass, with reasons in the
// file.
func notApplicable(t *testing.T, revision string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "mcp", "not-applicable-"+revision+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		if id, _, _ := strings.Cut(line, "#"); strings.TrimSpace(id) != "" {
			out = append(out, strings.TrimSpace(id))
		}
	}
	return out
}
