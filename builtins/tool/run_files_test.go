package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/tool"
)

// Files that the user passed to the run are readable by name, wherever they are; files
// next to them are not, and tools that write ignore them.
func TestFilesOfTheRunAreReadable(t *testing.T) {
	there := plant(t, "in/a.json", `{"n": 7}`, "in/b.txt", "closed", ".env", "KEY=1")
	if err := os.Symlink("in/a.json", filepath.Join(there, "link.json")); err != nil {
		t.Fatal(err)
	}
	s := tool.Settings{Dir: plant(t, "own.txt", "mine")}
	read := newTool[builtintool.ReadFileConfig](t, builtintool.ReadFile, s, nil)
	query := newTool[builtintool.JSONQueryConfig](t, builtintool.JSONQuery, s, nil)
	search := newTool[builtintool.SearchFilesConfig](t, builtintool.SearchFiles, s, nil)
	write := newTool[builtintool.WriteFileConfig](t, builtintool.WriteFile, s, nil)
	files := map[string]string{}
	for _, name := range []string{"in/a.json", "../in/a.json", ".env", "link.json", "gone.txt", "in"} {
		files[name] = filepath.Join(there, filepath.Base(name))
		if strings.HasSuffix(name, "in/a.json") {
			files[name] = filepath.Join(there, "in", "a.json")
		}
	}
	cases := []struct {
		name string
		tool tool.Tool
		args map[string]string
		want string // in the output, or else in the error
		ok   bool
	}{
		{"read", read, map[string]string{"path": "in/a.json"}, `"n": 7`, true},
		{"read by a name that leads up", read, map[string]string{"path": "../in/a.json"}, `"n": 7`, true},
		{"read a hidden one", read, map[string]string{"path": ".env"}, "KEY=1", true},
		{"read through a link", read, map[string]string{"path": "link.json"}, `"n": 7`, true},
		{"queried", query, map[string]string{"path": "in/a.json", "query": "$.n"}, "7", true},
		{"searched", search, map[string]string{"path": "in/a.json", "query": "7"}, "a.json:1:", true},
		{"the tool's own still", read, map[string]string{"path": "own.txt"}, "mine", true},
		{"not its neighbour", read, map[string]string{"path": "in/b.txt"}, "in/b.txt", false},
		{"not by another name", read, map[string]string{"path": "./in/a.json"}, "in/a.json", false},
		{"not by its absolute name", read, map[string]string{"path": filepath.Join(there, "in/a.json")}, "", false},
		{"one that is gone", read, map[string]string{"path": "gone.txt"}, "was passed to the run but no longer exists", false},
		{"a folder is none", read, map[string]string{"path": "in"}, "folder", false},
		{"never written", write, map[string]string{"path": "../in/a.json", "content": "x"}, `".."`, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			raw, err := json.Marshal(c.args)
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.tool.Call(t.Context(), &tool.Call{Args: raw, Files: files})
			switch {
			case c.ok && (err != nil || !strings.Contains(out.Text+string(out.Data), c.want)):
				t.Errorf("%+v %v", out, err)
			case !c.ok && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%+v %v", out, err)
			}
		})
	}
}
