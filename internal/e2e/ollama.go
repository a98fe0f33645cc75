//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Ollama serves a model file under the name "tiny" and gives the base URL of
// its OpenAI-compatible API.
func Ollama(t testing.TB, gguf string) string {
	t.Helper()
	binary := cached(t, "bin", "ollama")
	if _, err := os.Stat(binary); err != nil {
		if binary, err = exec.LookPath("ollama"); err != nil {
			t.Fatal("no ollama: internal/e2e/setup.sh ollama builds it")
		}
	}
	gguf, err := filepath.Abs(gguf)
	if err != nil {
		t.Fatal(err)
	}
	home, addr := t.TempDir(), freeAddress(t)
	env := append(os.Environ(), "HOME="+home, "OLLAMA_MODELS="+filepath.Join(home, "models"), "OLLAMA_HOST="+addr, "OLLAMA_KEEP_ALIVE=10m")
	serve := exec.Command(binary, "serve")
	serve.Env = env
	start(t, serve, "http://"+addr+"/api/version")

	modelfile := filepath.Join(home, "Modelfile")
	if err := os.WriteFile(modelfile, []byte("FROM "+gguf+"\nPARAMETER num_thread 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	create := exec.Command(binary, "create", "tiny", "-f", modelfile)
	create.Env = env
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("ollama create: %v\n%s", err, out)
	}
	return "http://" + addr + "/v1"
}
