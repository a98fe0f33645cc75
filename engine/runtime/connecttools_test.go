package runtime_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
)

// holding returns a server whose tools return the name of the server.
func holding(server string, tools ...string) tool.Binding {
	set := &enginetest.Toolset{Server: server, Respond: func(_ context.Context, t string, _ *tool.Call) (*tool.Output, error) {
		return &tool.Output{Text: server + " " + t}, nil
	}}
	for _, name := range tools {
		set.Tools = append(set.Tools, tool.Definition{Name: name, Input: json.RawMessage(`{"type":"object"}`)})
	}
	return tool.Binding{Spec: &tool.Spec{Name: server, Type: "mcp"}, Tool: set}
}

func TestServersCannotShadowTools(t *testing.T) {
	plain := tool.Binding{
		Spec: &tool.Spec{Name: "files__read"},
		Tool: tool.Wrap(holding("plain", "read").Tool, func(context.Context, *tool.Call) (*tool.Output, error) {
			return &tool.Output{Text: "the author's"}, nil
		}),
	}
	for _, tc := range []struct {
		name    string
		tools   []tool.Binding
		want    []string // name of the tool, and its server
		warning string
	}{
		{
			name: "a tool of the spec behind it", tools: []tool.Binding{holding("files", "read", "write"), plain},
			want:    []string{"files__write: files write", "files__read: the author's"},
			warning: `tools.files: tool "read" is ignored: its name files__read belongs to a tool of the spec`,
		},
		{
			name: "an entry with a longer name", tools: []tool.Binding{holding("files", "x__y", "z"), holding("files__x", "y")},
			want:    []string{"files__z: files z", "files__x__y: files__x y"},
			warning: `tools.files: tool "x__y" is ignored: its name files__x__y belongs to a tool of files__x`,
		},
		{
			name: "an entry with a longer name that has no such tool", tools: []tool.Binding{holding("a_", "x"), holding("a", "_y", "z")},
			want:    []string{"a___x: a_ x", "a__z: a z"},
			warning: `tools.a: tool "_y" is ignored: its name a___y belongs to a tool of a_`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &engine.Program{Name: "p", Graph: &graph.Graph[engine.Condition]{}}
			tools, warnings, err := runtime.Tools(t.Context(), p, engine.Input{RunID: "tools"}, engine.Host{Tools: tc.tools})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range tools {
				out, err := tools[i].Tool.Call(t.Context(), &tool.Call{Args: json.RawMessage(`{}`)})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, tools[i].Info().Name+": "+out.Text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if all := strings.Join(warnings, "\n"); all != tc.warning {
				t.Errorf("the warnings are %q, want %q", all, tc.warning)
			}
		})
	}
}
