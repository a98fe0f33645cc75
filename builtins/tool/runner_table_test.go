//go:build unix

package tool_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// commands reads commands from a file, one argv per line, as JSON.
func commands(t *testing.T, name string) (out [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "argv", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var argv []string
		if err := json.Unmarshal([]byte(line), &argv); err != nil {
			t.Fatalf("%s: %s: %v", name, line, err)
		}
		out = append(out, argv)
	}
	return out
}

// Common, harmless commands are accepted.
func TestHarmlessCommandsAreAccepted(t *testing.T) {
	for _, argv := range commands(t, "honest.jsonl") {
		if err := newCommandError(t, "", argv...); err != nil {
			t.Errorf("%q: %v", argv, err)
		}
	}
}

func TestCommandsWithModelCodeAreRejected(t *testing.T) {
	for _, argv := range commands(t, "chosen.jsonl") {
		if newCommandError(t, "", argv...) == nil {
			t.Errorf("%q was accepted", argv)
		}
	}
}

// newCommandError returns the error of creating a command with these settings.
func newCommandError(t *testing.T, schema string, argv ...string) error {
	t.Helper()
	_, err := try(builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) {
		c.Argv, c.InputSchema = templates(t, argv...), component.SchemaRef{JSON: json.RawMessage(schema)}
	})
	return err
}

// A value that the schema restricts cannot be code.
func TestRestrictedArgumentsAreAccepted(t *testing.T) {
	for of, taken := range map[string]bool{
		`{"type":"integer"}`: true, `{"enum":["build","test"]}`: true, `{"const":"x"}`: true, `{"type":"string","pattern":"^[a-z]+$"}`: true,
		`{"type":"string"}`: false, `{"type":"string","pattern":"^[a-z]"}`: false, `{"type":"string","pattern":"^a|b$"}`: false, `{"type":["integer","string"]}`: false,
	} {
		schema := `{"type":"object","properties":{"x":` + of + `}}`
		for _, argv := range [][]string{{"make", "${args.x}"}, {"sh", "-c", "sleep ${args.x}"}, {"ssh", "host", "logs", "${args.x}"}, {"env", "${args.x}"}} {
			if err := newCommandError(t, schema, argv...); (err == nil) != taken {
				t.Errorf("%s in %q: %v", of, argv, err)
			}
		}
	}
}

// Each fault has the position of the element, and a fix that suits the program.
func TestCommandFaultsHavePositions(t *testing.T) {
	for _, tt := range []struct {
		name, at, hint string
		edit           func(*builtintool.CommandConfig)
	}{
		{"no program", "/argv", "put the program first and its arguments after it", func(*builtintool.CommandConfig) {}},
		{"a program", "/argv/0", "write the program's name, and pass args after it", func(c *builtintool.CommandConfig) { c.Argv = templates(t, "${args.x}") }},
		{"a script", "/argv/2", `write a constant script and pass args as its parameters, such as ["sh", "-c", "echo \"$1\"", "sh", "${args.text}"]`, func(c *builtintool.CommandConfig) {
			c.Argv = templates(t, "sh", "-c", "${args.x}")
		}},
		{"a target", "/argv/1", "let input_schema declare the argument with an enum, or with a pattern such as ^[a-z]+$", func(c *builtintool.CommandConfig) {
			c.Argv = templates(t, "make", "${args.x}")
		}},
		{"SQL", "/argv/3", "write -safe before the database, or use a tool of type sql", func(c *builtintool.CommandConfig) {
			c.Argv = templates(t, "sqlite3", "-json", "a.db", "${args.x}")
		}},
		{"what is read", "/stdin", `write a constant script and pass args as its parameters, such as ["sh", "-c", "echo \"$1\"", "sh", "${args.text}"]`, func(c *builtintool.CommandConfig) {
			c.Argv, c.Stdin = templates(t, "ssh", "host"), template(t, "${args.x}")
		}},
		{"a variable", "/env/PATH", "pass args in another variable", func(c *builtintool.CommandConfig) {
			c.Argv, c.Env = templates(t, "sh", "-c", "${args.x}"), map[string]component.Template{"PATH": template(t, "${args.x}")}
		}},
	} {
		_, err := try(builtintool.Command, tool.Settings{}, tt.edit)
		if faults, ok := errors.AsType[component.Faults](err); !ok || faults[0].At != tt.at || faults[0].Hint != tt.hint {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A script from stdin may have arguments, and the input of a fixed script is not code.
func TestStdinThatIsDataIsAccepted(t *testing.T) {
	for _, tt := range []struct {
		argv  []string
		stdin string
		taken bool
	}{
		{[]string{"python3", "-", "${args.x}"}, "print(1)", true},
		{[]string{"python3", "-", "x"}, "${args.x}", false},
		{[]string{"sh", "-s", "--", "${args.x}"}, "echo $1", true},
		{[]string{"sh", "-s", "x"}, "${args.x}", false},
		{[]string{"sqlite3", "a.db", ".import --csv /dev/stdin t"}, "${args.x}", true},
		{[]string{"sqlite3", "-safe", "a.db"}, "${args.x}", true},
		{[]string{"docker", "run", "-i", "img", "sh"}, "${args.x}", false},
		{[]string{"docker", "run", "-i", "img", "sh", "-c", "cat"}, "${args.x}", true},
		{[]string{"ssh", "host", "cat"}, "${args.x}", true},
	} {
		_, err := try(builtintool.Command, tool.Settings{}, func(c *builtintool.CommandConfig) { c.Argv, c.Stdin = templates(t, tt.argv...), template(t, tt.stdin) })
		if (err == nil) != tt.taken {
			t.Errorf("%q from %q: %v", tt.argv, tt.stdin, err)
		}
	}
}
