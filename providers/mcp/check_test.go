package mcp_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

func value(json string) component.Value { return component.Value{JSON: []byte(json)} }

func TestCheckReportsEachMistakeOnce(t *testing.T) {
	npx := value(`["npx", "-y", "server"]`)
	tests := []struct {
		name   string
		config mcp.Config
		want   []string // place: message
	}{
		{"a list", mcp.Config{Command: npx}, nil},
		{"a program and arguments", mcp.Config{Command: value(`"npx"`), Args: []component.Template{{Text: "-y"}}}, nil},
		{"an address", mcp.Config{URL: component.Template{Text: "http://localhost:3000/mcp"}}, nil},
		{"nothing", mcp.Config{}, []string{"/command: neither command nor url is set"}},
		{"both", mcp.Config{Command: npx, URL: component.Template{Text: "https://h/mcp"}}, []string{"/url: command and url are mutually exclusive"}},
		{"a shell command line", mcp.Config{Command: value(`"npx -y server"`)}, []string{"/command: command runs without a shell, so its arguments are not split"}},
		{"no program", mcp.Config{Command: value(`[]`)}, []string{"/command: command names no program"}},
		{"not a string", mcp.Config{Command: value(`{"run":"npx"}`)}, []string{"/command: command must be a program, or a list of a program and its arguments, all strings"}},
		{"not a URL", mcp.Config{URL: component.Template{Text: "host/mcp"}}, []string{"/url: url is not an http or https URL"}},
		{"a password in the URL", mcp.Config{URL: component.Template{Text: "https://u:p@host/mcp"}}, []string{"/url: url contains a user name"}},
		{"headers of a program", mcp.Config{Command: npx, Headers: map[string]component.Template{"X": {}}}, []string{"/headers: headers has no effect with command"}},
		{"env with a URL", mcp.Config{URL: component.Template{Text: "https://h/mcp"}, Env: map[string]component.Template{"X": {}}}, []string{"/env: env has no effect with url"}},
		{
			"bad header names",
			mcp.Config{URL: component.Template{Text: "https://h/mcp"}, Headers: map[string]component.Template{"a b": {}, "Host": {}}},
			[]string{"/headers/Host: header Host is set by the HTTP client", "/headers/a b: \"a b\" is not a valid header name"},
		},
		{"bad variable name", mcp.Config{Command: npx, Env: map[string]component.Template{"A=B": {}}}, []string{"/env/A=B: \"A=B\" is not a valid environment variable name"}},
		{"bad glob", mcp.Config{Command: npx, Include: []string{"ok*", "[a"}}, []string{"/include/1: \"[a\" is not a valid glob"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range tt.config.Check(tool.Settings{}) {
				got = append(got, f.At+": "+f.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFoldersOutsideTheProjectAreRejected(t *testing.T) {
	for _, change := range []func(*mcp.Config){
		func(c *mcp.Config) { c.Cwd = "../elsewhere" },
		func(c *mcp.Config) { c.Roots = []string{"/"} },
	} {
		_, err := build(t, func(c *mcp.Config, _ *tool.Settings) { c.Command = value(`["x"]`); change(c) })
		if err == nil || !strings.Contains(err.Error(), "outside the project") {
			t.Errorf("error %v", err)
		}
	}
}

func TestRulesFollowTheConfig(t *testing.T) {
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) {
		c.Command, c.Exclude, c.Sampling = value(`["x"]`), []string{"rm"}, &mcp.Sample{LLM: component.ModelRef{Name: "small"}, MaxCalls: 2}
		c.Overrides = map[string]mcp.Override{
			"b": {Effect: "read", With: map[string]component.Value{"z": value(`1`), "y": value(`2`)}},
			"a": {Description: "Does a."},
		}
	})
	r := set.Rules()
	var names []string
	for _, o := range r.Overrides {
		names = append(names, o.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Error(diff)
	}
	if w := r.Overrides[1].With; len(w) != 2 || w[0].Name != "y" || r.Overrides[1].Effect != tool.ReadEffect {
		t.Errorf("override %+v", r.Overrides[1])
	}
	if want := (tool.Sampling{LLM: "small", MaxCalls: 2, MaxTokens: 4096}); r.Sampling != want {
		t.Errorf("sampling %+v, want %+v", r.Sampling, want)
	}
}

func TestServerItselfCannotBeCalled(t *testing.T) {
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.Command = value(`["x"]`) })
	if _, err := call(context.Background(), set, `{}`); err == nil || !strings.Contains(err.Error(), "peer__") {
		t.Errorf("error %v", err)
	}
}

// A tool from a run's journal is called only if the server's definition is unchanged.
func TestChangedToolIsNotCalled(t *testing.T) {
	defs, _ := list(t, child(t, "plain", nil))
	now := child(t, "changed", nil)
	_, err := call(context.Background(), now.Bind(defs["echo"]), `{"text":"hi"}`)
	checkError(t, err, time.Now(), "the server changed tool echo after the run started: its description", "the call was not made")
	if out, err := call(context.Background(), now.Bind(defs["add"]), `{"A":1,"B":1}`); err != nil || string(out.Data) != `{"sum":2}` {
		t.Errorf("the unchanged tool: %v, %v", out, err)
	}
	removed := defs["echo"]
	removed.Name = "vanished"
	_, err = call(context.Background(), now.Bind(removed), `{"text":"hi"}`)
	checkError(t, err, time.Now(), "no longer has tool vanished")
	changed := defs["add"]
	changed.Input = []byte(`{"type": "object", "required": ["A", "B"]}`)
	_, err = call(context.Background(), now.Bind(changed), `{}`)
	checkError(t, err, time.Now(), "its input schema")
}
