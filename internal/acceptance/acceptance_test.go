//go:build unix

package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/acceptance"
)

// The test binary acts as pexctl if requested. Its first argument selects the behavior.
func TestMain(m *testing.M) {
	if os.Getenv("STAND_IN") == "" {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "print":
		os.Stdout.WriteString(strings.Join(os.Args[2:], " "))
	case "env":
		os.Stdout.WriteString(os.Getenv(os.Args[2]))
	case "note":
		if err := os.WriteFile("note.txt", []byte(os.Args[2]), 0o644); err != nil {
			panic(err)
		}
	case "hang":
		<-time.After(time.Hour)
	case "fail":
		os.Stderr.WriteString("it broke")
		os.Exit(3)
	}
	os.Exit(0)
}

// verdict writes a case and runs it with the test binary.
func verdict(t *testing.T, caseJSON string) []string {
	t.Helper()
	t.Setenv("PEX_LEAK", "from the caller")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "case.json"), []byte(caseJSON), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := acceptance.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := acceptance.Run(c, acceptance.Command{Path: os.Args[0], Env: []string{"STAND_IN=1", "GORACE=atexit_sleep_ms=0"}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

const answer = `"args": ["print", "{\"a\":{\"b\":[1,\"two\",null,{}]},\"s\":\"h\u00e9\",\"t\":true}"]`

func TestStepsThatHold(t *testing.T) {
	for _, c := range []struct{ name, steps string }{
		{"literal", `{` + answer + `, "expect": {"a.b.0": 1, "a.b.-3": "two", "t": true, "a": {"b": [1, "two", null, {}]}}}`},
		{"matchers", `{` + answer + `, "expect": {"s": {"len": 2}, "a": {"has": "two"}, "a.b": {"len": 4}, "a.b.0": {"min": 1}, "a.b.1": {"any": ["one", "two"]},
			"a.b.2": {"type": "null"}, "a.b.3": {"empty": true}, "none": {"empty": true}, "t": {"lacks": "false"}}}`},
		{"number bounds and pattern", `{` + answer + `, "expect": {"a.b.0": {"max": 1}, "a.b.1": {"re": "^t.o$"}, "s": {"empty": false}}}`},
		{"absent", `{` + answer + `, "absent": ["x", "a.b.9", "s.x"]}`},
		{"saved values", `{` + answer + `, "save": {"IT": "a.b.1"}}, {"args": ["print", "{IT} {NOT}"], "stdout_has": ["{IT} ", "{NOT}"], "stdout_lacks": ["three"]}`},
		{"exit and stderr", `{"args": ["fail"], "exit": 3, "stderr_has": ["broke"]}`},
		{"a home, and no variable of the caller", `{"args": ["env", "PEX_HOME"], "stdout_has": ["home"]}, {"args": ["env", "PEX_LEAK"], "stdout_lacks": ["caller"]}`},
		{"variables of the step", `{"args": ["env", "X"], "env": {"X": "y"}, "stdout_has": ["y"]}`},
		{"files of one case are shared by its steps", `{"args": ["note", "a\nb"]}, {"args": ["print"], "files_has": {"note.txt": ["a"]}, "files_lines": {"note.txt": 2, "none": 0}}`},
		{"killed", `{"args": ["hang"], "kill_after": 0.2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if bad := verdict(t, `{"steps": [`+c.steps+`]}`); bad != nil {
				t.Errorf("did not hold: %q", bad)
			}
		})
	}
}

func TestStepsThatDoNotHoldAreNamed(t *testing.T) {
	for _, c := range []struct{ name, step, want string }{
		{"literal", `{` + answer + `, "expect": {"a.b.0": 2}}`, "a.b.0: got 1, want 2"},
		{"number is no text", `{` + answer + `, "expect": {"a.b.0": "1"}}`, `got 1, want 1`},
		{"missing", `{` + answer + `, "expect": {"x.y": 2}}`, "x.y: got nothing, want 2"},
		{"missing is not lacking", `{` + answer + `, "expect": {"x": {"lacks": "q"}}}`, "x: got nothing"},
		{"length", `{` + answer + `, "expect": {"a.b": {"len": 3}}}`, "a.b: got"},
		{"bound of a text", `{` + answer + `, "expect": {"s": {"max": 5}}}`, "s: got"},
		{"none of any", `{` + answer + `, "expect": {"s": {"any": [1]}}}`, "s: got"},
		{"pattern", `{` + answer + `, "expect": {"s": {"re": "^x"}}}`, "s: got"},
		{"broken pattern", `{` + answer + `, "expect": {"s": {"re": "("}}}`, "s: got"},
		{"type", `{` + answer + `, "expect": {"t": {"type": "string"}}}`, "t: got true"},
		{"not empty", `{` + answer + `, "expect": {"s": {"empty": true}}}`, "s: got hé"},
		{"not absent", `{` + answer + `, "absent": ["a"]}`, "a: is there"},
		{"nothing to save", `{` + answer + `, "save": {"X": "q"}}`, "nothing to save as X"},
		{"no JSON", `{"args": ["print", "text"], "expect": {"a": 1}}`, "not one JSON value"},
		{"exit", `{"args": ["fail"]}`, "exit 3, want 0; stderr: it broke"},
		{"stdout", `{"args": ["print", "a"], "stdout_has": ["b"], "stdout_lacks": ["a"]}`, `stdout lacks "b"`},
		{"file", `{"args": ["print"], "files_has": {"x": ["y"]}}`, "file x lacks"},
		{"lines", `{"args": ["note", "a"], "files_lines": {"note.txt": 2}}`, "1 lines, want 2"},
		{"ended too early", `{"args": ["print"], "kill_after": 30}`, "ended before it was to be killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Join(verdict(t, `{"steps": [`+c.step+`]}`), "\n")
			if !strings.Contains(bad, c.want) || !strings.HasPrefix(bad, "step 1 ") {
				t.Errorf("said %q, want %q", bad, c.want)
			}
		})
	}
}

func TestLoadRefusesChecksThatNobodyRuns(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{`{"steps": [{"args": [], "stdout_hass": ["x"]}]}`, `{"steps": []}`, `{`} {
		if err := os.WriteFile(filepath.Join(dir, "case.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, err := acceptance.Load(dir); err == nil {
			t.Errorf("%s: loaded as %+v", text, c)
		}
	}
}

func TestTheCasesOfThisModuleLoad(t *testing.T) {
	files, err := filepath.Glob("../../testdata/contract/*/case.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case found (%v)", err)
	}
	for _, f := range files {
		if _, err := acceptance.Load(filepath.Dir(f)); err != nil {
			t.Error(err)
		}
	}
}
