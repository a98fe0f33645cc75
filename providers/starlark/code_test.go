package starlark_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/starlark"
)

func TestMain(m *testing.M) {
	starlark.Serve()
	if os.Getenv(removing) != "" {
		os.Exit(callRemoved())
	}
	os.Exit(m.Run())
}

// newTool builds the tool for a folder.
func newTool(t testing.TB, dir string, edit func(*starlark.Config)) tool.Tool {
	t.Helper()
	c := starlark.Code.Config().(*starlark.Config)
	if edit != nil {
		edit(c)
	}
	tool, err := starlark.Code.Build(c, tool.Settings{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func call(ctx context.Context, t tool.Tool, source string, inputs any, session tool.CallSession) (*tool.Output, error) {
	raw, err := json.Marshal(map[string]any{"source": source, "inputs": inputs})
	if err != nil {
		return nil, err
	}
	return t.Call(ctx, &tool.Call{Args: raw, Session: session})
}

// plant writes files, given as pairs of name and content, to a new folder.
func plant(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		full := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// memorySession is a session in memory.
type memorySession struct{ session memory.Session }

func (k *memorySession) Read(context.Context) (memory.Session, error) { return k.session, nil }

func (k *memorySession) Update(_ context.Context, change func(*memory.Session) error) error {
	next := k.session
	if err := change(&next); err != nil {
		return err
	}
	k.session = next
	return nil
}

func TestConformance(t *testing.T) {
	enginetest.ToolSuite(t, newTool(t, t.TempDir(), nil), `{"source":"6 * 7"}`)
}

func TestResults(t *testing.T) {
	dir := plant(t, "a.csv", "\uFEFFx,y\n1,2\n3,4\n", "sub/b.txt", "b", ".env", "SECRET")
	tool := newTool(t, dir, nil)
	tests := []struct {
		name, source string
		inputs       any
		data, text   string
	}{
		{"the last line", "x = 6\nx * 7", nil, "42", ""},
		{"result takes precedence", "result = [1, 2]\n7", nil, "[1,2]", ""},
		{"result may be null", "result = None\n7", nil, "null", ""},
		{"a string", `"a" + "b"`, nil, "", "ab"},
		{"printed text alone", "print('a', 1)\nprint('b')", nil, "", "a 1\nb\n"},
		{"printed text and a result", "print('a')\n[1]", nil, "[1]", "a\n[1]"},
		{"nothing", "x = 1", nil, "", "[the program has no result; assign to result, or print]"},
		{"whole numbers are exact", "inputs['n'] * 1000000007", map[string]any{"n": json.RawMessage("90071992547409931234567")}, "90071993177913879066436518641969", ""},
		{"fractions and other JSON", "inputs", map[string]any{"a": 0.5, "b": nil, "c": []any{true, "ü"}}, `{"a":0.5,"b":null,"c":[true,"ü"]}`, ""},
		{"control flow at the top", "t = 0\nfor i in range(10):\n  if i % 2:\n    t += i\nwhile t > 20:\n  t -= 1\nt", nil, "20", ""},
		{"functions, sets, math and json", "def f(x):\n  return math.floor(x)\nlen(set([f(1.5), f(1.2)])) + len(json.decode('[1, 2]'))", nil, "3", ""},
		{"sum and round", "[sum([1, 2.5]), sum([[1], [2]], []), round(2.675, 2), round(2.5), round(3), round(1234.0, -2)]", nil, "[3.5,[1,2],2.67,2,3,1200.0]", ""},
		{"a file", "sum([int(l.split(',')[1]) for l in read_file('a.csv').splitlines()[1:]])", nil, "6", ""},
		{"HTML characters", "['<a> & b']", nil, `["<a> & b"]`, ""},
		{"files", "list_files() + list_files('*.csv')", nil, `["a.csv","sub/b.txt","a.csv"]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := call(t.Context(), tool, tt.source, tt.inputs, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.data+"|"+tt.text, string(out.Data)+"|"+out.Text); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestErrorsHaveAPosition(t *testing.T) {
	dir := plant(t, "a.txt", "a", ".env", "SECRET", "bin", "\xff\xfe")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	tool := newTool(t, dir, func(c *starlark.Config) { c.MaxSteps, c.MaxBytes = 100_000, 1000 })
	tests := []struct{ name, source, want string }{
		{"syntax", "x = 1\nif x\n  y", "line 3, column 1: got newline, want ':'"},
		{"an undefined name", "x = 1\ny = x + z", "line 2, column 9: undefined: z\n  y = x + z"},
		{"types", "def f(a):\n  return a + 'x'\nf(1)", "line 2, column 12: unknown binary op: int + string\n  return a + 'x'"},
		{"printed text", "print('seen')\nfail('no')", "line 2, column 5: fail: no\n  fail('no')\nprinted before:\nseen"},
		{"steps", "while True:\n  pass", "the program ran more than 100000 steps"},
		{"recursion", "def f(n):\n  return f(n)\nf(1)", "function f called recursively"},
		{"load", "load('x.star', 'y')", "load not implemented"},
		{"import", "import os", "line 1, column 1: got import, want primary expression"},
		{"not a number", "result = float('nan')", "cannot be encoded as JSON"},
		{"a function as result", "result = len", "cannot be encoded as JSON"},
		{"a long failure", "fail('x' * 5000000)", "xxx [4995"},
		{"many names", strings.Repeat("a;", 20000), "undefined: a\nline 1, column 3: undefined: a"},
		{"JSON nested deeply", "json.decode('[' * 3000000 + ']' * 3000000)", "nested too deeply"},
		{"a long result", "'x' * 2000", "the result is 2002 bytes, the maximum is 1000"},
		{"outside", "read_file('../x')", `line 1, column 10: path "../x" holds ".."`},
		{"absolute", "read_file('/etc/passwd')", "outside the folder of this tool"},
		{"a link to the outside", "read_file('link')", "leads out of the folder"},
		{"excluded", "read_file('.env')", "is closed to this tool"},
		{"not a text file", "read_file('bin')", "is not a text file"},
		{"missing", "read_file('b.txt')", `there is no "b.txt"; the folder of this tool holds`},
		{"variables without a memory", "variables.set('a', 1)", "variables are not available here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := call(t.Context(), tool, tt.source, nil, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, error %.5000v, want %q", out, err, tt.want)
			} else if len(err.Error()) > 5000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestPrintedTextIsLimited(t *testing.T) {
	tool := newTool(t, t.TempDir(), func(c *starlark.Config) { c.MaxBytes = 1000 })
	out, err := call(t.Context(), tool, "for i in range(1000): print('x' * 99)", nil, nil)
	if err != nil || len(out.Text) > 1100 || !strings.HasSuffix(out.Text, "\n[99000 more bytes were printed]\n") {
		t.Errorf("%+v, %v", out, err)
	}
}

// These programs use much memory in one operation or with few steps.
func TestMemoryIsLimited(t *testing.T) {
	tool := newTool(t, t.TempDir(), nil)
	for name, source := range map[string]string{
		"a text repeated":       "'a' * 1000000000",
		"a list repeated":       "[0] * 1000000000",
		"a range as a list":     "list(range(1000000000))",
		"a list doubled":        "x = [0] * 1000\nwhile True: x.extend(x)",
		"a text doubled":        "x = 'a'\nwhile True: x += x",
		"parts that are shared": "x = []\nfor i in range(40): x = [x, x]\nlen(str(x))",
		"JSON of shared parts":  "x = []\nfor i in range(40): x = [x, x]\nlen(json.encode(x))",
		"replace":               "('a' * 1000000).replace('a', 'b' * 1000000)",
		"join":                  "','.join(['a' * 1000000] * 1000000)",
		"format":                "('{0}' * 100000).format('a' * 1000000)",
		"many small values":     "x = {}\nfor i in range(10000000): x[i] = [i]",
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.Contains(source, " in range(") {
				t.Skip("a minute under the race detector: it grows in small steps")
			}
			out, err := call(t.Context(), tool, source, nil, nil)
			if err == nil || !strings.Contains(err.Error(), "more than 64 MB of memory") {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	// Unreachable values do not count.
	out, err := call(t.Context(), tool, "for i in range(200): x = 'a' * 10000000\nlen(x)", nil, nil)
	if err != nil || string(out.Data) != "10000000" {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = call(t.Context(), tool, "for i in range(20):\n  x = ''\n  x = 'a' * 50000000\nlen(x)", nil, nil)
	if err != nil || string(out.Data) != "50000000" {
		t.Errorf("%+v, %v", out, err)
	}
}

// These programs use much time in one operation, without steps.
func TestCancelStopsAProgram(t *testing.T) {
	tool := newTool(t, t.TempDir(), func(c *starlark.Config) { c.MaxSteps = 10_000_000_000 })
	for name, source := range map[string]string{
		"a loop":               "while True: pass",
		"all of a range":       "all(range(1, 1000000000000))",
		"lists that are equal": "a = [0] * 1000\nb = [0] * 1000\nfor i in range(5):\n  a, b = [a] * 1000, [b] * 1000\na == b",
		"whole numbers":        "x = 3\nwhile True: x = x * x % (1 << 511)",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			start := time.Now()
			out, err := call(ctx, tool, source, nil, nil)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v, %v", out, err)
			}
			if elapsed := time.Since(start); elapsed > 20*time.Second { // allows for a slow machine
				t.Errorf("stopped after %s", elapsed)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	tool := newTool(t, t.TempDir(), nil)
	k := &memorySession{memory.Session{Variables: map[string]json.RawMessage{"orders": json.RawMessage(`[1,2]`), "old": json.RawMessage(`1`)}}}
	out, err := call(t.Context(), tool, "variables.set('orders', variables.get('orders') + [3])\nvariables.set('none', None)\nvariables.delete('old')\n"+
		"[variables.names(), variables.get('orders'), variables.get('x', 7)]", nil, k)
	if err != nil || string(out.Data) != `[["none","orders"],[1,2,3],7]` {
		t.Fatalf("%+v, %v", out, err)
	}
	want := map[string]json.RawMessage{"orders": json.RawMessage(`[1,2,3]`), "none": json.RawMessage(`null`)}
	if d := cmp.Diff(want, k.session.Variables); d != "" {
		t.Error(d)
	}
	for name, source := range map[string]string{
		"a program that fails":     "variables.set('orders', 1)\nfail('x')",
		"a name":                   "variables.set('a b', 1)",
		"a large value":            "variables.set('a', 'x' * 40000)",
		"too many":                 "for i in range(65): variables.set('v%d' % i, i)",
		"far too many bytes":       "for i in range(400): variables.set('v%d' % i, 'x' * 30000)",
		"too many bytes":           "for i in range(20): variables.set('v%d' % i, 'x' * 30000)",
		"a value that is not JSON": "variables.set('a', len)",
	} {
		if out, err := call(t.Context(), tool, source, nil, k); err == nil {
			t.Errorf("%s: %+v", name, out)
		}
		if d := cmp.Diff(want, k.session.Variables); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// removing is set in a copy of this test binary that removes itself and calls the tool.
const removing = "PEX_TEST_REMOVING"

func callRemoved() (code int) {
	self := os.Args[0]
	c := starlark.Code.Config().(*starlark.Config)
	tool, err := starlark.Code.Build(c, tool.Settings{Dir: filepath.Dir(self)})
	if err = errors.Join(err, os.Remove(self)); err != nil {
		fmt.Println(err)
		return 1
	}
	out, err := call(context.Background(), tool, "6 * 7", nil, nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Print(string(out.Data))
	return 0
}

// A program that is upgraded while running continues with its own code.
func TestRemovedExecutableCanBeStarted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a removed program cannot be started again on this system")
	}
	whole, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(t.TempDir(), "self")
	if err := os.WriteFile(self, whole, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), removing+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "42" {
		t.Errorf("%s, %v", out, err)
	}
}

func TestEffectDependsOnVariables(t *testing.T) {
	with, without := newTool(t, t.TempDir(), nil), newTool(t, t.TempDir(), func(c *starlark.Config) { c.Variables = false })
	if got := with.Info().Effect; got != tool.IdempotentEffect {
		t.Errorf("effect %s", got)
	}
	if k, ok := with.(tool.SessionKeeper); !ok || k.SessionPart() != memory.VariablesPart {
		t.Error("the tool does not declare the variables")
	}
	if _, ok := without.(tool.SessionKeeper); ok || without.Info().Effect != tool.ReadEffect {
		t.Error("the tool without variables declares a session part or effect")
	}
	if _, err := call(t.Context(), without, "variables.set('a', 1)", nil, &memorySession{}); err == nil {
		t.Error("a variable was set without access")
	}
}

func BenchmarkCall(b *testing.B) {
	tool := newTool(b, b.TempDir(), nil)
	for name, source := range map[string]string{"nothing": "1", "a million steps": "t = 0\nfor i in range(200000): t += i\nt"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := call(b.Context(), tool, source, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
