//go:build unix

package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/process/processtest"
)

const childMode = "PEX_TEST_CHILD"

func TestMain(m *testing.M) {
	processtest.Main()
	if mode := os.Getenv(childMode); mode != "" {
		// Not os.Exit, because the race detector and the coverage tool hook it.
		syscall.Exit(child(mode))
	}
	os.Exit(m.Run())
}

// child is what the test binary does when a test runs it as a program.
func child(mode string) (code int) {
	switch mode {
	case "record":
		out, _ := json.Marshal(os.Args[1:])
		fmt.Println(string(out))
	case "all":
		in, _ := io.ReadAll(os.Stdin)
		out, _ := json.Marshal(append(os.Args[1:], "stdin", string(in), "VALUE", os.Getenv("VALUE")))
		fmt.Println(string(out))
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "cwd":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "fail":
		fmt.Println("said")
		fmt.Fprintln(os.Stderr, "oops")
		return 3
	case "silent":
		return 1
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "hang":
		fmt.Fprintln(os.Stderr, "working on it")
		said, _ := os.OpenFile(os.Args[1], os.O_WRONLY, 0)
		said.Close()
		time.Sleep(time.Minute)
	case "bytes":
		os.Stdout.WriteString("a\xff\x1b[0m\r\n\n")
	}
	return 0
}

// recorder returns a command that runs this test binary.
func recorder(t *testing.T, mode string, edit func(*builtintool.CommandConfig), argv ...string) tool.Tool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := tool.Settings{Dir: t.TempDir(), Env: machine}
	return newTool(t, builtintool.Command, s, func(c *builtintool.CommandConfig) {
		c.Argv = append([]component.Template{template(t, self)}, templates(t, argv...)...)
		c.Env = map[string]component.Template{childMode: template(t, mode)}
		if edit != nil {
			edit(c)
		}
	})
}

func machine(name string) string {
	return map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/me", "LANG": "C.UTF-8", "SECRET": canary, "TOKEN": "t0k"}[name]
}

func TestOverlongArgumentErrorSuggestsAFix(t *testing.T) {
	fails(t, recorder(t, "record", nil, "${args.a}"), args{"a": strings.Repeat("x", 4<<20)}, "pass long text by stdin")
}

func TestCommandConformance(t *testing.T) {
	cmd := recorder(t, "record", func(c *builtintool.CommandConfig) { c.Stdin = template(t, "${args.b:-none}") }, "--", "${args.a}")
	enginetest.ToolSuite(t, cmd, `{"a":"x"}`, `{"a":"-y","b":"z"}`)
}

func TestNonStringArgumentsArePassedAsJSON(t *testing.T) {
	cmd := recorder(t, "record", nil, "${args.v}", "${args.v.list[1]}", "${args.n}", "${args.yes}")
	got := text(t, cmd, args{"v": args{"b": "<&>", "a": nil, "list": []int{1, 2}}, "n": json.Number("12345678901234567890.10"), "yes": true})
	want := `["{\"a\":null,\"b\":\"\u003c\u0026\u003e\",\"list\":[1,2]}","2","12345678901234567890.10","true"]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStdinIsATemplate(t *testing.T) {
	s := tool.Settings{Dir: t.TempDir(), Env: machine}
	cat := newTool(t, builtintool.Command, s, func(c *builtintool.CommandConfig) {
		c.Argv, c.Stdin = templates(t, "cat"), template(t, "to: ${args.who}")
	})
	if got := text(t, cat, args{"who": "you\n"}); got != "to: you" {
		t.Errorf("%q", got)
	}
	none := newTool(t, builtintool.Command, s, func(c *builtintool.CommandConfig) { c.Argv = templates(t, "cat") })
	if got := text(t, none, args{}); got != "" {
		t.Errorf("%q from nothing", got)
	}
}

func TestChildReceivesNoUndeclaredVariables(t *testing.T) {
	t.Setenv("SECRET_OF_THE_PROCESS", canary)
	cmd := recorder(t, "env", func(c *builtintool.CommandConfig) {
		c.Env["GIVEN"] = template(t, "${env.TOKEN}-${args.a}")
	})
	var got []string
	for line := range strings.Lines(text(t, cmd, args{"a": "1"})) {
		if name, _, _ := strings.Cut(line, "="); name == "PEX_CALL" {
			line = name
		}
		got = append(got, strings.TrimSpace(line))
	}
	slices.Sort(got)
	want := []string{
		"GIVEN=t0k-1", "HOME=/home/me", "LANG=C.UTF-8", "PATH=/usr/bin:/bin", "PEX_CALL",
		"PEX_IDEMPOTENCY_KEY=run-1/step.s1", childMode + "=env",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParametersAndEnvironmentComeFromTheEngine(t *testing.T) {
	cmd := recorder(t, "record", nil, "${parameters.p}", "${env.E}", "${args.a}")
	out, err := cmd.Call(t.Context(), &tool.Call{
		Args:   json.RawMessage(`{"a":"model"}`),
		Lookup: func(ns, name string) (any, bool) { return ns + "/" + name, true },
	})
	if err != nil || out.Text != `["parameters/p","env/E","model"]` {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestCommandsRunInTheSpecsFolder(t *testing.T) {
	dir := plant(t, "sub/run.sh", "#!/bin/sh\npwd")
	if err := os.Chmod(filepath.Join(dir, "sub/run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ cwd, argv, want string }{
		{"", "pwd", ""}, {"sub", "pwd", "/sub"}, {"sub", "./run.sh", "/sub"}, {"", "sub/run.sh", ""},
	} {
		cmd := newTool(t, builtintool.Command, tool.Settings{Dir: dir}, func(c *builtintool.CommandConfig) {
			c.Cwd, c.Argv = tt.cwd, templates(t, tt.argv)
		})
		got := text(t, cmd, args{})
		if real, err := filepath.EvalSymlinks(dir); err != nil || got != real+tt.want {
			t.Errorf("%s in %q: %s, want %s (%v)", tt.argv, tt.cwd, got, real+tt.want, err)
		}
	}
	if _, err := try(builtintool.Command, tool.Settings{Dir: dir}, func(c *builtintool.CommandConfig) {
		c.Cwd, c.Argv = "../..", templates(t, "pwd")
	}); err == nil {
		t.Error("a folder outside of the project was taken")
	}
}

func TestFailureErrorsIncludeTheExitStatus(t *testing.T) {
	for mode, want := range map[string]string{
		"fail": "exit status 3\noops", "silent": "exit status 1", "die": "ended by signal: killed",
	} {
		_, err := call(t, recorder(t, mode, nil), args{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %q, want %q", mode, err, want)
		}
	}
	cmd := newTool(t, builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) { c.Argv = templates(t, "no-such-program") })
	fails(t, cmd, args{}, "program no-such-program not found in PATH")
}

func TestStoppedCommandErrorIncludesItsOutput(t *testing.T) {
	err := stoppedCommand(t)
	if want := "the command was stopped: context canceled\nworking on it"; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestOutputIsText(t *testing.T) {
	if got := text(t, recorder(t, "bytes", nil), args{}); got != "a\uFFFD\x1b[0m" {
		t.Errorf("%q", got)
	}
}

func TestDefaultSchemaNamesTheArguments(t *testing.T) {
	cmd := recorder(t, "record", func(c *builtintool.CommandConfig) {
		c.Stdin = template(t, "${args.body.text}")
		c.Env["X"] = template(t, "${args.from:-${args.to}}")
	}, "${args.to}", "${args.cc:-}", "${parameters.p}")
	var s struct {
		Properties           map[string]struct{ Type string } `json:"properties"`
		Required             []string                         `json:"required"`
		AdditionalProperties *bool                            `json:"additionalProperties"`
	}
	if err := json.Unmarshal(cmd.Info().Input, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Properties) != 4 || s.Properties["cc"].Type != "string" || s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Errorf("%s", cmd.Info().Input)
	}
	if diff := cmp.Diff([]string{"to", "body"}, s.Required); diff != "" {
		t.Error(diff)
	}
	own := recorder(t, "record", func(c *builtintool.CommandConfig) {
		c.InputSchema = component.SchemaRef{JSON: json.RawMessage(`{"type":"object"}`)}
	}, "${args.to}")
	if got := string(own.Info().Input); got != `{"type":"object"}` {
		t.Errorf("%s", got)
	}
}

func FuzzArgv(f *testing.F) {
	for _, s := range []string{"a b", "; id", "$(id)", "-o", "'\"", "${args.a}", "\xff", "\n"} {
		f.Add(s)
	}
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value string) {
		cmd := newTool(t, builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) {
			c.Argv = append([]component.Template{{Text: self}}, templates(t, "--", "${args.a}", "end")...)
			c.Env = map[string]component.Template{childMode: {Text: "record"}}
		})
		out, err := call(t, cmd, args{"a": value})
		if strings.ContainsRune(value, 0) != (err != nil) {
			t.Fatalf("%q: %v", value, err)
		}
		var got []string
		if err == nil && (json.Unmarshal([]byte(out.Text), &got) != nil || len(got) != 3 || got[1] != strings.ToValidUTF8(value, "\uFFFD") && !strings.Contains(got[1], "\uFFFD")) {
			t.Errorf("%q became %q", value, got)
		}
	})
}
