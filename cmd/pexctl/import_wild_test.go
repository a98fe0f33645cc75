package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/goldentest"
)

// wildReplies are replies for every LLM of an imported agent, with and without
// tool calls.
const wildReplies = `- {role: planner, text: '{"steps": ["Look"], "result": ""}'}
- {role: executor, text: '{"thought": "I know", "final_answer": "Two indices."}'}
- {role: reflector, when: 'prompt contains "Two indices"', text: '{"steps": [], "result": "Two."}'}
`

// TestPublicBodiesAreImported imports public registration bodies, vets the results
// without warnings, runs them with scripted replies, and compares the specs with
// reviewed ones.
func TestPublicBodiesAreImported(t *testing.T) {
	oneGoroutine(t)
	goldentest.Each(t, "../../testdata/import/opensearch/wild/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		home, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		a.Extract(t, ".")
		if err := os.RemoveAll("made"); err != nil { // it contains the expected files
			t.Fatal(err)
		}
		args := []string{"import", "opensearch", "agent.json", "--out", "made", "-o", "json"}
		for _, name := range []string{"connector.json", "connector2.json", "connector3.json"} {
			if _, err := os.Stat(name); err == nil {
				args = append(args, "--connector", name)
			}
		}
		if _, err := os.Stat("executor.json"); err == nil {
			args = append(args, "--agent", "exec-1=executor.json")
		}
		var made struct {
			Notes []struct{ What string }
			Vet   struct{ Diagnostics []diag.Diagnostic }
		}
		if err := json.Unmarshal([]byte(printed(t, 0, args...)), &made); err != nil {
			t.Fatal(err)
		}
		for _, d := range made.Vet.Diagnostics {
			if d.Code != diag.Deprecated || !strings.Contains(d.Message, "retires the model") { // bodies name the models of their time
				t.Errorf("vet: %s", d)
			}
		}
		for _, n := range made.Notes {
			if strings.Contains(n.What, "nothing that is known of OpenSearch's agents reads it") {
				t.Errorf("a key that people have is not known: %+v", n)
			}
		}
		if err := os.WriteFile(filepath.Join("made", "replies.yaml"), []byte(wildReplies), 0o600); err != nil {
			t.Fatal(err)
		}
		spec, err := os.ReadFile("made/spec.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		out := &bytes.Buffer{}
		if code := run(append([]string{"run", "made", "How many?", "-o", "json"}, onScript(string(spec))...), streams{strings.NewReader(""), out, &said}); code != 0 {
			t.Fatalf("run: exit %d\n%s\n%s\n%s", code, said.String(), out, spec)
		}
		if !strings.Contains(out.String(), `"response": "Two."`) {
			t.Errorf("the answer is another:\n%s", out)
		}
		t.Chdir(home)
		a.Want(t, "made/spec.yaml", string(spec))
	})
}

// onScript returns overrides that replace each LLM of a spec by scripted replies,
// and its tool servers by a clock.
func onScript(spec string) (flags []string) {
	section := ""
	for line := range strings.Lines(spec) {
		line = strings.TrimRight(line, "\n")
		switch name, ok := strings.CutSuffix(line, ":"); {
		case ok && !strings.HasPrefix(line, " "):
			section = name
		case ok && section == "llms" && strings.HasPrefix(line, "  ") && line[2] != ' ' && line[2] != '#':
			flags = append(flags, "--set", "llms."+strings.TrimSpace(name)+"={provider: scripted, options: {file: replies.yaml}}")
		case ok && section == "tools" && strings.HasPrefix(line, "  ") && line[2] != ' ' && strings.Contains(spec, line+"\n    type: mcp"):
			flags = append(flags, "--set", "tools."+strings.TrimSpace(name)+"={type: builtin, use: clock}")
		}
	}
	return flags
}
