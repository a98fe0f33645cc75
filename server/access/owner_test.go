package access_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/accesstest"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
)

const ownedSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: desk}
llms:
  main: {provider: scripted, options: {replies: [{role: planner, text: '{"steps": [], "result": "done"}'}]}}
  other: {provider: scripted, options: {replies: [{role: planner, text: '{"steps": [], "result": "other"}'}]}}
planner: {llm: main}
`

// The owner of a server within a process may override any value, and is the author of what clients
// do. Clients of other servers may not.
func TestOwner(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "desk"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "desk", "spec.yaml"), []byte(ownedSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	w := accesstest.New(t, dir, accesstest.Options{})
	prepare := func() error {
		c := w.Client("anon")
		a, err := c.Agent(auth.Run, "desk")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Prepare(t.Context(), a, access.NewRun{Question: "Why?", Set: []string{"planner.llm=other"}})
		return err
	}
	if prepare() == nil {
		t.Error("a client may override planner.llm")
	}
	if got := w.Client("anon").Actor(); got.User != auth.Anonymous {
		t.Errorf("the author is %+v", got)
	}
	w.Access.Owner = &engine.Actor{User: "ann", Host: "laptop"}
	if err := prepare(); err != nil {
		t.Errorf("the owner may not override planner.llm: %v", err)
	}
	if got := w.Client("anon").Actor(); got.User != "ann" || got.Host != "laptop" {
		t.Errorf("the author is %+v", got)
	}
}
