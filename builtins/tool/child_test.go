//go:build unix

package tool_test

import (
	"strings"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/process"
	"github.com/pexctl/pex/internal/process/processtest"
)

// A command sees only what its author declared: no other variables, no open files, no
// store paths.
func TestCommandsReceiveOnlyWhatWasDeclared(t *testing.T) {
	secrets := processtest.Plant(t)
	self, err := processtest.Program()
	if err != nil {
		t.Fatal(err)
	}
	machine := func(name string) string {
		return map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/me", "SECRET": secrets[0], "TOKEN": "t0k"}[name]
	}
	dir := plant(t, "sub/x", "")
	cmd := newTool(t, builtintool.Command, tool.Settings{Dir: dir, Env: machine}, func(c *builtintool.CommandConfig) {
		c.Argv, c.Cwd, c.Stdin = templates(t, self, "${args.a}"), "sub", template(t, "${args.a}")
		c.Env = map[string]component.Template{processtest.Variable: {Text: "1"}, "GIVEN": template(t, "${env.TOKEN}")}
	})
	for _, value := range []string{"x", "${env.SECRET}", "$SECRET", "/proc/self/environ"} {
		g, err := processtest.Read(text(t, cmd, args{"a": value}))
		if err != nil {
			t.Fatal(err)
		}
		wrong := g.Check(processtest.Declared{
			Env: []string{"PATH", "HOME", "GIVEN", "PEX_IDEMPOTENCY_KEY", process.Marker}, Dir: dir + "/sub", Secrets: secrets,
		})
		if wrong != nil || len(g.Args) != 1 || g.Args[0] != value {
			t.Errorf("%q: %s (args %q)", value, strings.Join(wrong, "\n"), g.Args)
		}
	}
}
