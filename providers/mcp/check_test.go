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

func TestCheckTellsEachMistakeOnce(t *testing.T) {
	npx := value(`["npx", "-y", "server"]`)
	tests := []struct {
		name   string
		config mcp.Config
		want   []string // place: message
	}{
		{"a list", mcp.Config{Command: npx}, nil},
		{"a program and arguments", mcp.Config{Command: value(`"npx"`), Args: []component.Template{{Text: "-y"}}}, nil},
		{"an address", mcp.Config{URL: component.Template{Text: "http://localhost:3000/mcp"}}, nil},
		{"nothing", mcp.Config{}, []string{"/command: nothing says where the server is"}},
		{"both", mcp.Config{Command: npx, URL: component.Template{Text: "https://h/mcp"}}, []string{"/url: the server is started by command or reached at url, not both"}},
		{"a line for a shell", mcp.Config{Command: value(`"npx -y server"`)}, []string{"/command: no shell takes command apart"}},
		{"no program", mcp.Config{Command: value(`[]`)}, []string{"/command: command names no program"}},
		{"no text", mcp.Config{Command: value(`{"run":"npx"}`)}, []string{"/command: command is neither a program nor a list of a program and its arguments, all texts"}},
		{"no address", mcp.Config{URL: component.Template{Text: "host/mcp"}}, []string{"/url: url is no http or https address"}},
		{"a password in it", mcp.Config{URL: component.Template{Text: "https://u:p@host/mcp"}}, []string{"/url: url has a user name in it"}},
		{"headers of a program", mcp.Config{Command: npx, Headers: map[string]component.Template{"X": {}}}, []string{"/headers: headers says nothing beside command"}},
		{"environment of an address", mcp.Config{URL: component.Template{Text: "https://h/mcp"}, Env: map[string]component.Template{"X": {}}}, []string{"/env: env says nothing beside url"}},
		{
			"no header",
			mcp.Config{URL: component.Template{Text: "https://h/mcp"}, Headers: map[string]component.Template{"a b": {}, "Host": {}}},
			[]string{"/headers/Host: header Host comes of the request itself", "/headers/a b: no header can be called \"a b\""},
		},
		{"no variable", mcp.Config{Command: npx, Env: map[string]component.Template{"A=B": {}}}, []string{"/env/A=B: \"A=B\" cannot be the name of an environment variable"}},
		{"no glob", mcp.Config{Command: npx, Include: []string{"ok*", "[a"}}, []string{"/include/1: \"[a\" is no glob"}},
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

func TestFoldersStayInTheProject(t *testing.T) {
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

func TestRulesAreWhatTheAuthorWrote(t *testing.T) {
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

func TestServerItselfIsNotCalled(t *testing.T) {
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.Command = value(`["x"]`) })
	if _, err := call(context.Background(), set, `{}`); err == nil || !strings.Contains(err.Error(), "peer__") {
		t.Errorf("error %v", err)
	}
}

// A tool that a run knows from its journal is called only if the server's is
// still the same.
func TestChangedToolIsNotCalled(t *testing.T) {
	defs, _ := listed(t, child(t, "plain", nil))
	now := child(t, "changed", nil)
	_, err := call(context.Background(), now.Bind(defs["echo"]), `{"text":"hi"}`)
	wants(t, err, time.Now(), "the server has changed its tool echo since the run began: its description", "not called")
	if out, err := call(context.Background(), now.Bind(defs["add"]), `{"A":1,"B":1}`); err != nil || string(out.Data) != `{"sum":2}` {
		t.Errorf("the tool that is the same: %v, %v", out, err)
	}
	gone := defs["echo"]
	gone.Name = "vanished"
	_, err = call(context.Background(), now.Bind(gone), `{"text":"hi"}`)
	wants(t, err, time.Now(), "no tool vanished any more")
	loose := defs["add"]
	loose.Input = []byte(`{"type": "object", "required": ["A", "B"]}`)
	_, err = call(context.Background(), now.Bind(loose), `{}`)
	wants(t, err, time.Now(), "its input schema")
}
