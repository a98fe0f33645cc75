package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/graph"
)

// holding is a server with tools of these names, which answer with who they are.
func holding(server string, tools ...string) engine.HostTool {
	set := &enginetest.Toolset{Told: server, Answer: func(_ context.Context, tool string, _ *engine.Call) (*engine.ToolOutput, error) {
		return &engine.ToolOutput{Text: server + " " + tool}, nil
	}}
	for _, name := range tools {
		set.Tools = append(set.Tools, engine.ToolDefinition{Name: name, Input: json.RawMessage(`{"type":"object"}`)})
	}
	return engine.HostTool{Spec: &engine.ToolSpec{Name: server, Type: "mcp"}, Tool: set}
}

func TestNoServerTakesTheNameOfAnotherTool(t *testing.T) {
	plain := engine.HostTool{
		Spec: &engine.ToolSpec{Name: "files__read"},
		Tool: engine.Recast(holding("plain", "read").Tool, func(context.Context, *engine.Call) (*engine.ToolOutput, error) {
			return &engine.ToolOutput{Text: "the author's"}, nil
		}),
	}
	for _, tc := range []struct {
		name    string
		tools   []engine.HostTool
		want    []string // name and who answers
		warning string
	}{
		{
			name: "a tool of the spec behind it", tools: []engine.HostTool{holding("files", "read", "write"), plain},
			want:    []string{"files__write: files write", "files__read: the author's"},
			warning: `tools.files: the tool "read" is left out: its name files__read is that of a tool of the spec`,
		},
		{
			name: "an entry with a longer name", tools: []engine.HostTool{holding("files", "x__y", "z"), holding("files__x", "y")},
			want:    []string{"files__z: files z", "files__x__y: files__x y"},
			warning: `tools.files: the tool "x__y" is left out: its name files__x__y is that of a tool of files__x`,
		},
		{
			name: "an entry with a longer name that has no such tool", tools: []engine.HostTool{holding("a_", "x"), holding("a", "_y", "z")},
			want:    []string{"a___x: a_ x", "a__z: a z"},
			warning: `tools.a: the tool "_y" is left out: its name a___y is that of a tool of a_`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &engine.Program{Name: "p", Graph: &graph.Graph[engine.Condition]{}}
			tools, warnings, err := engine.Tools(t.Context(), p, engine.Input{RunID: "tools"}, engine.Host{Tools: tc.tools})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range tools {
				out, err := tools[i].Tool.Call(t.Context(), &engine.Call{Args: json.RawMessage(`{}`)})
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
