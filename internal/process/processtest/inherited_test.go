//go:build unix

package processtest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/process"
	"github.com/pexctl/pex/internal/process/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main()
	os.Exit(m.Run())
}

// A child started with os/exec inherits the canaries, and the check reports them.
func TestUncontainedChildInheritsCanaries(t *testing.T) {
	secrets := processtest.Plant(t)
	self, err := processtest.Program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), processtest.Variable+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	g, err := processtest.Read(string(out))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(g.Check(processtest.Declared{Env: []string{"MISSING"}, Dir: "/elsewhere", Secrets: secrets}), "\n")
	for _, want := range []string{"UNDECLARED was not declared", "MISSING is missing", "is open: ", "its working folder is ", "it has the secret " + processtest.Canary} {
		if !strings.Contains(all, want) {
			t.Errorf("missing violation %q:\n%s", want, all)
		}
	}
}

func TestContainedChildInheritsOnlyDeclared(t *testing.T) {
	secrets := processtest.Plant(t)
	self, err := processtest.Program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	res, err := process.Run(t.Context(), process.Command{Argv: []string{self, "a"}, Dir: dir, Env: []string{processtest.Variable + "=1", "A=1"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := processtest.Read(res.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := g.Check(processtest.Declared{Env: []string{"A", process.Marker}, Dir: dir, Secrets: secrets}); wrong != nil {
		t.Errorf("%s", strings.Join(wrong, "\n"))
	}
	if d := cmp.Diff([]string{"a"}, g.Args); d != "" {
		t.Error(d)
	}
}
