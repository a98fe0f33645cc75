package tool_test

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
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

func TestVisibleEscapesInvisibleCharacters(t *testing.T) {
	l := &tool.Listing{
		Server: "files 1.0\u202e",
		Tools: []tool.Definition{
			{Name: "fine", Description: "Reads a file 👩\u200d🚒.", Input: json.RawMessage(`{"type":"object"}`)},
			{
				Name: "sly", Title: "Sly\u200b", Description: "Adds.\U000E0041\U000E0042", Input: json.RawMessage(`{"properties":{"a":{"description":"x\u200b"}}}`),
				Output: json.RawMessage(`{"title":"\ue000"}`),
			},
			{Name: "fi\u200bne", Description: "Passes for fine."},
		},
	}
	want := &tool.Listing{
		Server: `files 1.0\u{202E}`,
		Tools: []tool.Definition{
			l.Tools[0],
			{
				Name: "sly", Title: `Sly\u{200B}`, Description: `Adds.\u{E0041}\u{E0042}`, Input: json.RawMessage(`{"properties":{"a":{"description":"x\\u{200B}"}}}`),
				Output: json.RawMessage(`{"title":"\\u{E000}"}`),
			},
		},
		Warnings: []string{
			`tool sly contains 5 invisible characters in its title and description and input schema and output schema; models see them escaped, as in \u{200B}`,
			`tool "fi\\u{200B}ne" is not used: its name contains 1 invisible character`,
		},
	}
	got := l.Visible()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got.Visible()); diff != "" {
		t.Errorf("Visible changed a visible listing: %s", diff)
	}
}

// toolsOf lists the tools of a server as a run does.
func toolsOf(t *testing.T, set tool.Toolset, pinned func(*tool.Listing) error) ([]runtime.BoundTool, []string, error) {
	t.Helper()
	p := &engine.Program{Name: "p", Graph: &graph.Graph[engine.Condition]{}}
	h := engine.Host{Tools: []tool.Binding{{Spec: &tool.Spec{Name: "files", Type: "mcp"}, Tool: set, Pinned: pinned}}}
	return runtime.Tools(t.Context(), p, engine.Input{RunID: "tools"}, h)
}

func TestModelsReceiveTheVisibleDefinition(t *testing.T) {
	set := &enginetest.Toolset{Server: "files 1.0", Tools: []tool.Definition{
		{Name: "sly", Description: "Adds.\U000E0041", Input: json.RawMessage(`{"type":"object"}`)},
	}}
	tools, warnings, err := toolsOf(t, set, nil)
	if err != nil || len(tools) != 1 {
		t.Fatalf("%v, %v", tools, err)
	}
	if got, want := tools[0].Info().Description, `Adds.\u{E0041}`; got != want {
		t.Errorf("description %q, want %q", got, want)
	}
	if all := strings.Join(warnings, "\n"); !strings.Contains(all, "tools.files: tool sly contains 1 invisible character in its description") {
		t.Errorf("the warnings are %q", all)
	}
	out, err := tools[0].Tool.Call(context.Background(), &tool.Call{Args: json.RawMessage(`{"a":1}`)})
	if err != nil || string(out.Data) != `{"a":1}` {
		t.Errorf("called it gives %v, %v", out, err)
	}
}

func TestChangedToolsEndTheRun(t *testing.T) {
	set := &enginetest.Toolset{Server: "files 1.0", Tools: []tool.Definition{{Name: "sly", Description: "x\u200b"}}}
	var saw string
	_, _, err := toolsOf(t, set, func(l *tool.Listing) error {
		saw = l.Tools[0].Description
		return tool.ErrChanged
	})
	end, ok := err.(*stop.Error) //nolint:errorlint // not wrapped
	if !ok || end.Reason.Code != stop.ToolsChanged || end.Reason.Path != "tools.files" {
		t.Fatalf("the error is %v", err)
	}
	if saw != `x\u{200B}` {
		t.Errorf("compared %q, which differs from the definition for models", saw)
	}
}
