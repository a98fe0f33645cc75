//go:build unix

package assertion_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/trial"
)

// script creates a check with a shell script, in a folder of its own.
func script(t *testing.T, source string, edit func(*assertion.CommandConfig)) (trial.Check, string) {
	t.Helper()
	dir := t.TempDir()
	settings := trial.CheckSettings{Dir: dir, Env: os.Getenv}
	return newCheck(t, assertion.Command, settings, func(k *assertion.CommandConfig) {
		k.Argv = templates(t, "sh", "-c", source, "sh", "${case.answer}")
		if edit != nil {
			edit(k)
		}
	}), dir
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         expect
	}{
		{"passes", "exit 0", expect{pass: true, message: "exit status 0"}},
		{"fails", "echo it is wrong; exit 1", expect{message: "exit status 1: it is wrong"}},
		{"says why it fails", "echo out; echo because >&2; exit 1", expect{message: "exit status 1: because"}},
		{"prints that it passes", `echo '{"pass":true,"score":0.8,"message":"nearly"}'`, expect{pass: true, score: 0.8, message: "nearly"}},
		{"prints that it fails", `echo '{"pass":false,"score":0.3,"message":"no"}'`, expect{score: 0.3, message: "no"}},
		{"prints and exits", `echo '{"pass":false,"message":"no"}'; exit 1`, expect{message: "no"}},
		{"prints a text", `echo fine`, expect{pass: true, message: "exit status 0: fine"}},
		{"an argument of the row", `[ "$1" = Paris ]`, pass},
		{"reads the answer", `grep -q '"response":"It is Paris."'`, pass},
		{"prints broken JSON", `echo '{"pass":'`, expect{err: "sh printed invalid JSON"}},
		{"prints JSON without pass", `echo '{"score":1}'`, expect{err: "without pass"}},
		{"prints a word for pass", `echo '{"pass":"yes"}'`, expect{err: "printed invalid JSON"}},
		{"contradicts itself", `echo '{"pass":true}'; exit 1`, expect{err: "printed pass: true but exited with status 1"}},
		{"a score of percents", `echo '{"pass":true,"score":80}'`, expect{err: "a score of 80; scores range from 0 to 1"}},
		{"breaks", "echo oops >&2; exit 2", expect{err: "sh exited with status 2: oops"}},
		{"is killed", "kill -9 $$", expect{err: "killed by signal"}},
		{"talks without end", "yes | head -c 3000000; exit 1", expect{message: "bytes left out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, _ := script(t, c.source, nil)
			if m := check(t, k, withResponse("It is Paris."), c.want); c.want.err == "" && m.Actual != "It is Paris." {
				t.Errorf("actual %q", m.Actual)
			}
		})
	}
}

func TestCommandInput(t *testing.T) {
	k, dir := script(t, "cat > in.json; pwd; env", func(k *assertion.CommandConfig) {
		k.Env = map[string]component.Template{"EXPECTED": template(t, "${case.answer}")}
	})
	s := withOutput(`{"total":3}`)
	s.Result.Steps = []plan.StepRecord{{ID: "s1", ToolCalls: []tool.Record{{Tool: "clock", Args: json.RawMessage(`{"a":1}`)}}}}
	s.Trace = runtime.TraceOf(s.Result, nil)
	t.Setenv("SECRET_OF_THE_MACHINE", "x")
	m := check(t, k, s, pass)
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{at, "EXPECTED=Paris", "PATH="} {
		if !strings.Contains(m.Message, part) {
			t.Errorf("no %s in %s", part, m.Message)
		}
	}
	if strings.Contains(m.Message, "SECRET_OF_THE_MACHINE") {
		t.Error("the machine's environment is passed on")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "in.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Case, Parameters map[string]any
		Response         string
		Output           map[string]any
		Trace            struct {
			Calls []struct {
				Tool string
				Args map[string]any
			}
		}
		Result struct{ Steps []struct{ ID string } }
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"Paris", "Capital of France?", `{"total":3}`, 3.0, "clock", 1.0, "s1"}, []any{
		got.Case["answer"], got.Parameters["question"], got.Response, got.Output["total"], got.Trace.Calls[0].Tool, got.Trace.Calls[0].Args["a"], got.Result.Steps[0].ID,
	}); diff != "" {
		t.Error(diff)
	}
}

func TestCommandTimesOut(t *testing.T) {
	slow, _ := script(t, "echo waiting; exec sleep 600", func(k *assertion.CommandConfig) { k.Timeout = 50 * time.Millisecond })
	check(t, slow, withResponse("x"), expect{err: "sh did not finish within 50ms"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	endless, _ := script(t, "exec sleep 600", nil)
	if _, err := endless.Check(ctx, withResponse("x")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestInvalidCommands(t *testing.T) {
	missing := newCheck(t, assertion.Command, trial.CheckSettings{Dir: t.TempDir(), Env: os.Getenv}, func(k *assertion.CommandConfig) {
		k.Argv = templates(t, "no-such-program-here")
	})
	check(t, missing, withResponse("x"), expect{err: "not found in PATH"})
	column := newCheck(t, assertion.Command, trial.CheckSettings{Dir: t.TempDir(), Env: os.Getenv}, func(k *assertion.CommandConfig) {
		k.Argv = templates(t, "true", "${case.x}")
	})
	check(t, column, withResponse("x"), expect{err: "case.x does not exist"})
	wantInvalid(t, assertion.Command, "must name a program", func(*assertion.CommandConfig) {})
	wantInvalid(t, assertion.Command, "argv[0] must not come from the dataset", func(k *assertion.CommandConfig) { k.Argv = templates(t, "${case.answer}") })
}
