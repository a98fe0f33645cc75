package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// modelServer imitates the parts of Ollama and of an OpenAI-compatible server that init asks.
func modelServer(t *testing.T, capabilities map[string]string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models": [{"name": "nomic-embed-text:latest"}, {"name": "gemma:2b"}, {"name": "qwen3:latest"}]}`)
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"capabilities": [%s]}`, capabilities[asked.Model])
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data": [{"id": "qwen/qwen3-8b"}]}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestInitUsesTheModelsOfALocalServer(t *testing.T) {
	all := map[string]string{"nomic-embed-text:latest": `"embedding"`, "gemma:2b": `"completion"`, "qwen3:latest": `"completion", "tools"`}
	server := modelServer(t, all)
	for _, c := range []struct {
		name, host string
		args       []string
		models     []string // in models.yaml
		says       string
	}{
		{
			"a model with tool calls comes first", server,
			[]string{"--provider", "ollama"},
			[]string{"model: qwen3\n", "base_url: " + server + "/v1"},
			"With a real model (qwen3):\n  pexctl run DIR --set planner.llm=live \"your question\"",
		},
		{
			"a model without tool calls", server,
			[]string{"--provider", "ollama", "--model", "gemma:2b"},
			[]string{"model: gemma:2b\n", "# supports no tool calls: use it with executor.mode: react_text"},
			"With a real model (gemma:2b):\n  pexctl run DIR --set planner.llm=live --set executor.mode=react_text \"your question\"",
		},
		{
			"a model that is not installed", server,
			[]string{"--provider", "ollama", "--model", "llama9"},
			[]string{"model: llama9\n"},
			"With a real model (llama9; not installed: run ollama pull llama9):",
		},
		{
			"no server", "127.0.0.1:1",
			[]string{"--provider", "ollama"},
			[]string{"model: qwen3:8b\n", "base_url: http://127.0.0.1:1/v1"},
			"With a real model (qwen3:8b; no Ollama server at http://127.0.0.1:1/v1: run ollama serve, then ollama pull qwen3:8b):",
		},
		{
			"an OpenAI-compatible server", "",
			[]string{"--provider", "openai", "--base-url", server + "/v1/"},
			[]string{"live: # needs no API key\n", "model: qwen/qwen3-8b\n", "base_url: " + server + "/v1\n"},
			"With a real model (qwen/qwen3-8b):\n  pexctl run DIR --set",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.host != "" {
				t.Setenv("OLLAMA_HOST", c.host)
			}
			dir := filepath.Join(t.TempDir(), "agent")
			out, progress, code := tried(t, append([]string{"init", dir, "--yes"}, c.args...)...)
			if code != 0 {
				t.Fatalf("exit %d\n%s", code, progress)
			}
			if want := strings.ReplaceAll(c.says, "DIR", dir); !strings.Contains(out, want) {
				t.Errorf("init printed\n%s\nwithout\n%s", out, want)
			}
			models, err := os.ReadFile(filepath.Join(dir, "models.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.models {
				if !strings.Contains(string(models), want) {
					t.Errorf("models.yaml lacks %q:\n%s", want, models)
				}
			}
			wantGood(t, dir)
		})
	}
	if _, progress, code := tried(t, "init", t.TempDir(), "--yes", "--base-url", "localhost:8080"); code != 2 || !strings.Contains(progress, "http://localhost:8080/v1") {
		t.Errorf("an address without a scheme: exit %d, %s", code, progress)
	}
}
