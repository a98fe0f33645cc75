//go:build unix

package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/tool"
)

// pythonTool returns the tool, if this machine has a Python interpreter.
func pythonTool(t *testing.T, edit func(*builtintool.PythonConfig)) tool.Tool {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 on this machine, or it is Windows")
	}
	t.Setenv("PEX_TEST_CANARY", canary)
	return newTool(t, builtintool.Python, tool.Settings{}, func(c *builtintool.PythonConfig) {
		if c.Allow = true; edit != nil {
			edit(c)
		}
	})
}

func TestPythonRequiresAllow(t *testing.T) {
	_, err := try[builtintool.PythonConfig](builtintool.Python, tool.Settings{}, nil)
	faults, ok := errors.AsType[component.Faults](err)
	if !ok || len(faults) != 1 || faults[0].At != "/allow" {
		t.Errorf("error %v", err)
	}
	if got := builtintool.Python.Config().(tool.DefaultApprover).DefaultApproval(); got != "always" {
		t.Errorf("approval %q", got)
	}
}

func TestPythonConformance(t *testing.T) {
	enginetest.ToolSuite(t, pythonTool(t, nil), `{"source":"result = 6 * 7"}`)
}

func TestPythonResults(t *testing.T) {
	python := pythonTool(t, func(c *builtintool.PythonConfig) { c.Network = true })
	tests := []struct {
		name, source string
		data, text   string
	}{
		{"a result", "result = {'a': [1, 2**70, None, 'ü']}", `{"a": [1, 1180591620717411303424, null, "ü"]}`, `{"a": [1, 1180591620717411303424, null, "ü"]}`},
		{"printed text", "print('a')\nprint('b')", "", "a\nb"},
		{"both", "print('a')\nresult = 1", "1", "a\n1"},
		{"another folder", "import os\nos.chdir('/')\nresult = 1", "1", "1"},
		{"standard input is empty", "import sys\nresult = sys.stdin.read()", `""`, `""`},
		{"inputs", "result = inputs['n'] + 1", "8", "8"},
		{"quotes are no code", "x = '''\"; $(id) `id`'''\nresult = x", `"\"; $(id) ` + "`id`" + `"`, `"\"; $(id) ` + "`id`" + `"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := call(t, python, map[string]any{"source": tt.source, "inputs": map[string]any{"n": 7}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.data+"|"+tt.text, string(out.Data)+"|"+out.Text); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPythonErrorsSayWhere(t *testing.T) {
	python := pythonTool(t, nil)
	for source, want := range map[string]string{
		"def f(x):\n  return x / 0\nf(1)": "File \"program\", line 2, in f\n    return x / 0",
		"x = (":                           "SyntaxError",
		"import sys\nsys.exit(3)":         "exit status 3",
		"result = {1, 2}":                 "not JSON serializable",
		"result = float('nan')":           "Out of range float values",
		"result = '\\ud800'":              "surrogates not allowed",
		"import os\nos.mkfifo('.pex-result')\nresult = 1": "File exists",
		"": `"source" is missing`,
	} {
		_, err := call(t, python, map[string]any{"source": source})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "bootstrap") || strings.Contains(err.Error(), "<string>") {
			t.Errorf("%q: error %v, want %q", source, err, want)
		}
	}
}

// Output that the interpreter writes before the program starts is reported, and so is
// network access that could not be blocked.
func TestPythonReportsInterpreterOutput(t *testing.T) {
	const uncut = "\n[network access could not be blocked on this machine]"
	tests := []struct{ name, script, text, err string }{
		{"cut off", "echo cut off >&2; echo 42 > .pex-result", "42\n", ""},
		{"not cut off", "echo network >&2; echo 42 > .pex-result", "42\n" + uncut, ""},
		{"it does not start", "echo the library libpython is missing >&2; echo install it >&2; exit 127", "", "the library libpython is missing\ninstall it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			interpreter := filepath.Join(t.TempDir(), "python")
			if err := os.WriteFile(interpreter, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			python := pythonTool(t, func(c *builtintool.PythonConfig) { c.Interpreter = interpreter })
			if tt.err != "" {
				fails(t, python, map[string]any{"source": "result = 42"}, tt.err)
				return
			}
			if got := text(t, python, map[string]any{"source": "result = 42"}); got != tt.text {
				t.Errorf("gave %q", got)
			}
		})
	}
}

// The tool's own code writes the result, without following links.
func TestPythonResultIsNotWrittenThroughALink(t *testing.T) {
	python := pythonTool(t, nil)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, python, map[string]any{"source": fmt.Sprintf("import os\nos.symlink(%q, '.pex-result')\nresult = 1", other)}, "File exists")
	if now, err := os.ReadFile(other); err != nil || string(now) != "old" {
		t.Errorf("the other file contains %q, %v", now, err)
	}
}

// The environment that a program runs in.
func TestPythonIsContained(t *testing.T) {
	python := pythonTool(t, nil)
	out, err := call(t, python, map[string]any{"source": `
import os, resource
result = {"env": sorted(os.environ), "canary": "` + canary + `" in str(os.environ), "home": os.environ["HOME"] == os.getcwd(),
  "files": os.listdir("."), "fds": [f for f in os.listdir("/dev/fd") if int(f) < 3 or os.path.exists("/dev/fd/" + f)],
  "core": resource.getrlimit(resource.RLIMIT_CORE)[0], "cwd": os.getcwd()}
`})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Env, Files, Fds []string
		Canary, Home    bool
		Core            int
		Cwd             string
	}
	if err := json.Unmarshal(out.Data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Canary || !got.Home || len(got.Files) != 0 || got.Core != 0 || len(got.Fds) != 3 {
		t.Errorf("%+v", got)
	}
	if d := cmp.Diff([]string{"HOME", "LANG", "PATH", "PEX_CALL", "PYTHONIOENCODING", "TMPDIR"}, got.Env); d != "" {
		t.Error(d)
	}
	if _, err := os.Stat(got.Cwd); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s still exists (%v)", got.Cwd, err)
	}
}

func TestPythonLimits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not hold a process to all of the limits")
	}
	python := pythonTool(t, func(c *builtintool.PythonConfig) { c.CPU, c.MaxFile, c.MaxBytes = 1, 100_000, 2000 })
	for source, want := range map[string]string{
		"x = bytearray(10 << 30)":                       "MemoryError",
		"while True: pass":                              "exit status",
		"open('f', 'w').write('x' * 1000000)":           "File too large",
		"fs = [open('/dev/null') for i in range(1000)]": "Too many open files",
		"result = 'x' * 5000":                           "the limit is 2000",
		"import resource as r\nr.setrlimit(r.RLIMIT_AS, (1 << 40, 1 << 40))\nif __import__('os').getuid() == 0: raise ValueError('not allowed to raise')": "not allowed to raise",
	} {
		fails(t, python, map[string]any{"source": source}, want)
	}
	if got := text(t, python, map[string]any{"source": "for i in range(100000): print(i)"}); len(got) > 2200 || !strings.HasPrefix(got, "0\n1\n") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}

func TestPythonHasNoNetwork(t *testing.T) {
	heard, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	source := fmt.Sprintf("import socket\nsocket.create_connection(('127.0.0.1', %d), 5)\nresult = 'connected'", heard.Addr().(*net.TCPAddr).Port)
	out, err := call(t, pythonTool(t, nil), map[string]any{"source": source})
	switch {
	case err == nil && !strings.Contains(out.Text, "does not permit to cut the program off"):
		t.Errorf("connected without a warning: %+v", out)
	case err != nil && !strings.Contains(err.Error(), "Network is unreachable") && !strings.Contains(err.Error(), "refused"):
		t.Errorf("error %v", err)
	}
	with := pythonTool(t, func(c *builtintool.PythonConfig) { c.Network = true })
	if got := text(t, with, map[string]any{"source": source}); got != `"connected"` {
		t.Errorf("with a network: %s", got)
	}
}

// Child processes that a program leaves behind, in their own sessions and environments,
// hold a named pipe open while they live.
func TestPythonLeavesNothingRunning(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("namespaces are Linux's")
	}
	python := pythonTool(t, nil)
	if !strings.HasPrefix(text(t, python, map[string]any{"source": "import os\nresult = os.getpid() == 1"}), "true") {
		t.Skip("this machine permits no namespaces: a child that hides from its group lives on, as the tool's doc says")
	}
	for name, end := range map[string]string{"at its end": "result = 1", "when it is stopped": "time.sleep(600)"} {
		t.Run(name, func(t *testing.T) {
			mark := filepath.Join(t.TempDir(), "lives")
			source := fmt.Sprintf(`
import os, signal, time
for i in range(20):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.execve("/bin/sleep", ["sleep", "599.%%d" %% os.getpid()], {"WHO": %q})
time.sleep(0.3)
%s`, mark, end)
			raw, err := json.Marshal(map[string]any{"source": source})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if end != "result = 1" {
				go stopWhenAlive(ctx, cancel, mark, 20)
			}
			_, err = python.Call(ctx, &tool.Call{Args: raw})
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Fatal("a minute is over")
			}
			if (err == nil) != (end == "result = 1") {
				t.Error(err)
			}
			if n := alive(mark); n > 0 {
				t.Errorf("%d processes are still running", n)
			}
		})
	}
}

// stopWhenAlive stops a program once n of its children are running.
func stopWhenAlive(ctx context.Context, stop func(), mark string, n int) {
	for ctx.Err() == nil && alive(mark) < n {
		time.Sleep(20 * time.Millisecond)
	}
	stop()
}

// alive returns the number of processes with mark in their environment.
func alive(mark string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), mark) {
			n++
		}
	}
	return n
}
