//go:build e2e && unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/internal/e2e"
)

// mock is aimock with the answers to the scenarios of the suite, which it
// streams in small pieces; it takes one key. It gives the address of its server.
func mock(t *testing.T) string {
	t.Helper()
	t.Setenv("AIMOCK_API_KEYS", enginetest.MockKey)
	return strings.TrimSuffix(e2e.Aimock(t, "testdata/exchanges.json", "--chunk-size", "12", "--latency", "2"), "/v1")
}

// TestRecord is make record: it starts the server that is to be recorded, if
// it is one of ours, and runs the suite of the provider against it.
func TestRecord(t *testing.T) {
	name, from := os.Getenv("PEX_RECORD"), os.Getenv("FROM")
	if name == "" {
		t.Skip("make record PROVIDER=openai [FROM=aimock|ollama] records")
	}
	env := os.Environ()
	switch from {
	case "":
	case "aimock":
		env = append(env, "PEX_RECORD_URL="+mock(t), "PEX_RECORD_FROM=aimock "+e2e.Version(t, "aimock"))
	case "ollama":
		base := strings.TrimSuffix(e2e.Ollama(t, "../../testdata/models/tiny.gguf"), "/v1")
		env = append(env, "PEX_RECORD_URL="+base, "PEX_RECORD_FROM=Ollama "+e2e.Version(t, "ollama"), "PEX_RECORD_MODEL=tiny", "PEX_RECORD_NOISE=1")
	default:
		t.Fatalf("FROM=%s is unknown: there are aimock and ollama, and the service itself without it", from)
	}
	suite := exec.Command("go", "test", "-count=1", "-v", "-run", "^TestExchanges", suiteOf(t, name))
	suite.Env = env
	out, err := suite.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, ".go:") && !strings.HasSuffix(line, " is recorded\n") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// suiteOf is the package whose suite has a provider.
func suiteOf(t *testing.T, provider string) string {
	t.Helper()
	files, err := filepath.Glob("../../providers/*/exchange_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), `Name: "`+provider+`"`) {
			return filepath.Dir(f)
		}
	}
	t.Fatalf("no provider is named %s in %s", provider, strings.Join(files, ", "))
	return ""
}
