package apitest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// A run with overrides executes the program that the server has loaded, like every other
// run, and not the spec as it is on disk, which was neither checked nor trusted.
func TestOverridesAreForTheServedProgram(t *testing.T) {
	w := isolated(t)
	spec := filepath.Join(w.dir, "notes", "spec.yaml")
	if err := os.WriteFile(spec, []byte("apiVersion: pex/v1\nkind: Agent\nmetadata: {name: notes}\nbroken: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, result := w.response("ann", "notes", `{"question": "Hi.", "set": ["limits.max_steps=3"]}`); got != "first answer" {
		t.Error(result)
	}
}

// A run with overrides has the program that the spec on disk has with these overrides, so it
// can be resumed.
func TestRunsWithOverridesResume(t *testing.T) {
	w := isolated(t)
	res := w.do("ann", "POST", "/v1/agents/notes/runs", http.Header{"Prefer": {"wait=60"}}, `{"question": "Hi.", "run_id": "short", "set": ["limits.max_tokens=100"]}`)
	if res.Code != http.StatusOK {
		t.Fatal(res.Code, res.Body)
	}
	if res := w.do("ann", "POST", "/v1/runs/short/resume", nil, `{"set": ["limits.max_tokens=100000"]}`); res.Code != http.StatusAccepted {
		t.Error(res.Code, res.Body)
	}
	w.await("short")
}
