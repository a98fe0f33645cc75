//go:build e2e && unix

package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/e2e"
)

func fetch(t *testing.T, req *http.Request) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func request(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer of-nothing")
	return req
}

func TestE2EOllamaServesTheTinyModel(t *testing.T) {
	base := e2e.Ollama(t, "../../testdata/models/tiny.gguf")
	if got := fetch(t, request(t, http.MethodGet, base+"/models", "")); !strings.Contains(got, "tiny") {
		t.Errorf("models: %s", got)
	}
}

func TestE2EAimockAnswersFromFixtures(t *testing.T) {
	base := e2e.Aimock(t, "testdata/aimock.json")
	got := fetch(t, request(t, http.MethodPost, base+"/chat/completions",
		`{"model": "m", "messages": [{"role": "user", "content": "say the long sentence"}]}`))
	if !strings.Contains(got, "several pieces") {
		t.Errorf("answer: %s", got)
	}
}
