package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/tool"
)

// newTool creates a tool from its defaults, changed by edit.
func newTool[C any](t *testing.T, f component.Factory[tool.Settings, tool.Tool], s tool.Settings, edit func(*C)) tool.Tool {
	t.Helper()
	made, err := try(f, s, edit)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func try[C any](f component.Factory[tool.Settings, tool.Tool], s tool.Settings, edit func(*C)) (tool.Tool, error) {
	c := f.Config().(*C)
	if edit != nil {
		edit(c)
	}
	return f.Build(c, s)
}

// call calls a tool with arguments given as a Go value.
func call(t *testing.T, one tool.Tool, args any) (*tool.Output, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return one.Call(t.Context(), &tool.Call{Args: raw, Key: "run-1/step.s1"})
}

// text returns the output of a call, which must succeed.
func text(t *testing.T, tool tool.Tool, args any) string {
	t.Helper()
	out, err := call(t, tool, args)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	if out.Text == "" {
		return string(out.Data)
	}
	return out.Text
}

// fails checks that a call returns an error that contains want.
func fails(t *testing.T, tool tool.Tool, args any, want string) {
	t.Helper()
	out, err := call(t, tool, args)
	if err == nil {
		t.Errorf("%v gave %+v, want an error with %q", args, out, want)
	} else if !strings.Contains(err.Error(), want) {
		t.Errorf("%v: error %q, want %q in it", args, err, want)
	}
}

// template compiles a template as the dsl does.
func template(t *testing.T, src string) component.Template {
	t.Helper()
	p, problems := prompt.Parse(src, prompt.Options{Namespaces: []string{"args", "parameters", "env"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	out := component.Template{Text: src}
	out.Bind(p.Render)
	return out
}

func templates(t *testing.T, src ...string) []component.Template {
	t.Helper()
	out := make([]component.Template, len(src))
	for i, s := range src {
		out[i] = template(t, s)
	}
	return out
}

// plant writes files below a new folder, given as names and contents in turn.
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

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestEveryToolIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, "_test.go") && strings.Contains(string(src), "component.New(") {
			want = append(want, strings.TrimSuffix(f, ".go"))
		}
	}
	got := builtintool.All().Types()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEverySettingIsDocumented(t *testing.T) {
	for _, f := range builtintool.All() {
		if f.Doc == "" {
			t.Errorf("%s has no doc", f.Type)
		}
		c := reflect.TypeOf(f.Config()).Elem()
		for field := range c.Fields() {
			if tag := field.Tag; tag.Get("yaml") == "" || tag.Get("doc") == "" {
				t.Errorf("%s: %s has no yaml key or no doc", f.Type, field.Name)
			}
		}
	}
}

func TestAuthorsNameAndDescriptionTakePrecedence(t *testing.T) {
	for _, f := range builtintool.All() {
		c := f.Config()
		switch cc := c.(type) {
		case *builtintool.AgentConfig:
			cc.Ref.Bind(researcher())
		case *builtintool.CommandConfig:
			cc.Argv = templates(t, "true")
		case *builtintool.HTTPConfig:
			cc.URL = template(t, "https://example.com/")
		case *builtintool.PythonConfig:
			cc.Allow = true
		case *builtintool.WebSearchConfig:
			cc.URL = template(t, "https://example.com/")
		}
		made, err := f.Build(c, tool.Settings{Name: "mine", Description: "What I say of it.", Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if got := made.Info(); got.Name != "mine" || got.Description != "What I say of it." {
			t.Errorf("%s: %+v", f.Type, got)
		}
	}
}

func TestConformance(t *testing.T) {
	dir := plant(t, "a.txt", "one\ntwo\n", "t.csv", "a,b\n1,x\n")
	s := tool.Settings{Dir: dir, Now: noon}
	okArgs := map[string][]string{
		"clock":        {`{}`, `{"timezone":"Europe/Berlin"}`},
		"calculator":   {`{"expression":"6*7"}`},
		"read_file":    {`{"path":"a.txt"}`, `{"path":"a.txt","offset":2,"limit":1}`},
		"write_file":   {`{"path":"out/b.txt","content":"x"}`},
		"list_files":   {`{}`, `{"pattern":"**"}`},
		"search_files": {`{"query":"two"}`, `{"query":"nothing like it"}`},
		"json_query":   {`{"path":"t.csv"}`, `{"json":"[1,2]","aggregate":{"op":"sum"}}`},
		"http_get":     {},
		"http_request": {},
		"http":         {},
		"web_search":   {},
		"command":      {},
		"python":       {}, // python_test.go has some, if there is a python3
		"notepad":      {}, // without a session; session_test.go has one
		"variables":    {},
		"ask_user":     {},
		"agent":        {}, // the engine runs it instead
	}
	for _, f := range builtintool.All() {
		t.Run(f.Type, func(t *testing.T) {
			c := f.Config()
			switch cc := c.(type) {
			case *builtintool.AgentConfig:
				cc.Ref.Bind(researcher())
			case *builtintool.CommandConfig:
				cc.Argv = templates(t, "./missing", "${args.x}")
			case *builtintool.HTTPConfig:
				cc.URL = template(t, "http://127.0.0.1:1/${args.x}")
			case *builtintool.PythonConfig:
				cc.Allow = true
			case *builtintool.WebSearchConfig:
				cc.URL = template(t, "http://127.0.0.1:1/search")
			}
			made, err := f.Build(c, s)
			if err != nil {
				t.Fatal(err)
			}
			args, ok := okArgs[f.Type]
			if !ok {
				t.Fatal("the test knows no arguments for it")
			}
			enginetest.ToolSuite(t, made, args...)
		})
	}
}

func TestArgumentNamesMustMatchExactly(t *testing.T) {
	read := newTool[builtintool.ReadFileConfig](t, builtintool.ReadFile, tool.Settings{Dir: plant(t, "a.txt", "a", "b.txt", "b")}, nil)
	for _, args := range []string{`{"path":"a.txt","Path":"b.txt"}`, `{"path":"a.txt","PATH":"b.txt"}`, `{"pa\u017fh":"b.txt"}`, `{"path":"a.txt","x":1}`} {
		out, err := read.Call(t.Context(), &tool.Call{Args: json.RawMessage(args)})
		if err == nil || !strings.Contains(err.Error(), "unknown argument") {
			t.Errorf("%s: %+v, %v", args, out, err)
		}
	}
	fails(t, read, map[string]any{"path": 7}, `argument "path" must be a string, not number`)
	fails(t, read, map[string]any{"path": "a.txt", "offset": "x"}, `argument "offset" must be a whole number, not string`)
}

func TestClock(t *testing.T) {
	s := tool.Settings{Now: noon}
	clock := newTool[builtintool.ClockConfig](t, builtintool.Clock, s, nil)
	for zone, want := range map[string]string{
		"":                 "2026-11-20T12:00:00Z Friday",
		"UTC":              "2026-11-20T12:00:00Z Friday",
		"Europe/Berlin":    "2026-11-20T13:00:00+01:00 Friday",
		"Pacific/Auckland": "2026-11-21T01:00:00+13:00 Saturday",
		"-03:30":           "2026-11-20T08:30:00-03:30 Friday",
	} {
		if got := text(t, clock, map[string]any{"timezone": zone}); got != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
	}
	for _, zone := range []string{"Nowhere/None", "../../etc/passwd", "/etc/localtime", "Local", "CEST"} {
		fails(t, clock, map[string]any{"timezone": zone}, "such as Europe/Berlin")
	}
	if _, err := try(builtintool.Clock, s, func(c *builtintool.ClockConfig) { c.Timezone = "Nowhere" }); err == nil {
		t.Error("an unknown zone was taken as a setting")
	}
}

func TestClockFormat(t *testing.T) {
	for format, want := range map[string]string{
		"%Y-%m-%d":                "2026-11-20",
		"%A, %d %B %Y %H:%M:%S":   "Friday, 20 November 2026 12:00:00",
		"%j %u %w %V %G %s 100%%": "324 5 5 47 2026 1795176000 100%",
		"2006 Jan Monday %y":      "2006 Jan Monday 26",
		"%I %p %f %z %Z":          "12 PM 000000 +0000 UTC",
	} {
		clock := newTool(t, builtintool.Clock, tool.Settings{Now: noon}, func(c *builtintool.ClockConfig) { c.Format = format })
		if got := text(t, clock, map[string]any{}); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	for _, format := range []string{"%Q", "100%"} {
		if _, err := try(builtintool.Clock, tool.Settings{}, func(c *builtintool.ClockConfig) { c.Format = format }); err == nil {
			t.Errorf("format %q was accepted", format)
		}
	}
}

func TestCalculator(t *testing.T) {
	calc := newTool[builtintool.CalculatorConfig](t, builtintool.Calculator, tool.Settings{}, nil)
	if got := text(t, calc, map[string]any{"expression": "6*7"}); got != "42" {
		t.Errorf("6*7 = %s", got)
	}
	fails(t, calc, map[string]any{}, `"expression" is missing`)
}
