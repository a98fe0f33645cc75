package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// For an agent that exceeds the maximum size of a spec, the error names the
// limit, and no files are left behind.
func TestImportNamesTheMaximumSizeOfASpec(t *testing.T) {
	oneGoroutine(t)
	cases := []struct {
		name        string
		tools       int
		description string
		exit        int
		says        string
	}{
		{"as many tools as a mapping has keys", 1999, "Lists.", 0, ""},
		{"more tools", 3000, "Lists.", 2, "the mapping has 3000 keys; the maximum is 2000; nothing was written"},
		{"longer texts", 60, strings.Repeat("Lists. ", 3000), 2, "bytes; the maximum is 1048576; nothing was written"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			tools := make([]string, c.tools)
			for i := range tools {
				tools[i] = fmt.Sprintf(`{"type": "ListIndexTool", "name": "t%d", "description": %q}`, i, c.description)
			}
			agent, out := filepath.Join(dir, "agent.json"), filepath.Join(dir, "made")
			body := `{"name": "large", "type": "plan_execute_and_reflect", "llm": {"model_id": "m"}, "tools": [` + strings.Join(tools, ",") + `]}`
			if err := os.WriteFile(agent, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			exit, said, errs := pexctl("import", "opensearch", agent, "--out", out)
			if exit != c.exit || c.exit != 0 && !strings.Contains(errs, c.says) {
				t.Errorf("exit %d, want %d\n%s%s", exit, c.exit, said, errs)
			}
			if _, err := os.Stat(out); (err == nil) != (c.exit == 0) {
				t.Errorf("the folder: %v", err)
			}
		})
	}
}
