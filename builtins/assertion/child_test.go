//go:build unix

package assertion_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/process"
	"github.com/pexctl/pex/internal/process/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main()
	os.Exit(m.Run())
}

// A check's program sees only what its author declared, and nothing else of this process.
func TestGradersReceiveOnlyWhatWasDeclared(t *testing.T) {
	secrets := processtest.Plant(t)
	self, err := processtest.Program()
	if err != nil {
		t.Fatal(err)
	}
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "given")
	machine := func(name string) string {
		return map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/me", "SECRET": secrets[0]}[name]
	}
	c := newCheck(t, assertion.Command, trial.CheckSettings{Dir: dir, Env: machine}, func(k *assertion.CommandConfig) {
		k.Argv = templates(t, self, "${case.answer}")
		k.Env = map[string]component.Template{processtest.Variable: {Text: to}}
	})
	check(t, c, &trial.Subject{Case: map[string]any{"answer": "${env.SECRET}"}, Result: &engine.Result{}}, pass)
	raw, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	g, err := processtest.Read(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	wrong := g.Check(processtest.Declared{Env: []string{"PATH", "HOME", process.Marker}, Dir: dir, Secrets: secrets})
	if wrong != nil || len(g.Args) != 1 || g.Args[0] != "${env.SECRET}" {
		t.Errorf("%s (args %q)", strings.Join(wrong, "\n"), g.Args)
	}
}
