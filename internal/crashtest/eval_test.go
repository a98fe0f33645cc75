//go:build faults && linux

package crashtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/chatserver"
)

const evalSuite = `apiVersion: pex/v1
kind: Suite
metadata: {name: killed}
spec: spec.yaml
dataset: cases.jsonl
repeat: 2
concurrency: 16
checks:
  - {type: contains, value: "${case.answer}"}
  - {type: regex, pattern: "answer to [0-9]+"}
gates: [stats.pass_rate > 0.5]
`

const evalCases = 400

// evalWorld is an evaluation, the server that answers it, and the folder of both.
type evalWorld struct {
	t      testing.TB
	dir    string
	server *chatserver.Server
}

func newEvalWorld(t testing.TB) *evalWorld {
	t.Helper()
	w := &evalWorld{t: t, dir: t.TempDir()}
	w.server = chatserver.Start(t, 5*time.Millisecond, func(prompt string) string {
		return fmt.Sprintf(`{"steps": [], "result": "The answer to %s is even or odd."}`, caseOf(prompt))
	})
	var cases strings.Builder
	for i := range evalCases {
		answer := []string{"odd", "even", "neither"}[i%3]
		fmt.Fprintf(&cases, `{"id":"%d","question":"Number %d, please","answer":%q}`+"\n", i, i, answer)
	}
	spec := `{apiVersion: pex/v1, kind: Agent, metadata: {name: killed}, tools: {clock: {}},
		llms: {main: {provider: openai, model: m, base_url: "` + w.server.URL + `", cost: {input: 1, output: 4}}}}`
	for name, text := range map[string]string{"spec.yaml": spec, "suite.yaml": evalSuite, "cases.jsonl": cases.String()} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

var numberAsked = regexp.MustCompile(`Number (\d+), please`)

func caseOf(prompt string) string {
	m := numberAsked.FindStringSubmatch(prompt)
	if m == nil {
		return "nothing"
	}
	return m[1]
}

func (w *evalWorld) command(home string, args ...string) *exec.Cmd {
	c := exec.Command(plain, append([]string{"eval"}, args...)...)
	c.Dir, c.Env = w.dir, append(os.Environ(), "PEX_HOME="+filepath.Join(w.dir, home), "OPENAI_API_KEY=none-at-all")
	return c
}

// summary is the report, without what differs from one evaluation to the next:
// its id, and times.
func (w *evalWorld) summary(home string) []byte {
	w.t.Helper()
	out, err := w.command(home, "show", "last", "-q", "-o", "json").Output()
	if err != nil {
		w.t.Fatalf("show: %v\n%s", err, out)
	}
	for _, times := range []string{
		`"id": "e[^"]*"`, `"started_at": "[^"]*"`, `"duration_ms": \d+`, `"latency_ms":[\d.]+`, `(?s)"latency": \{.*?\}`,
	} {
		out = regexp.MustCompile(times).ReplaceAll(out, nil)
	}
	return out
}

// finished is how often each case has a row.
func (w *evalWorld) finished(home, id string) map[string]int {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, home, "evals", id, "rows.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	out := map[string]int{}
	for line := range bytes.Lines(b) {
		var row struct{ Case string }
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &row) == nil {
			out[row.Case]++
		}
	}
	return out
}

// An evaluation that is killed again and again runs no finished trial twice, and
// comes to the report of one that nobody disturbed. PEX_FAULTS_EVAL_KILLS says
// how often (50).
func TestAKilledEvaluationRunsNoFinishedTrialAgain(t *testing.T) {
	kills := number(t, "PEX_FAULTS_EVAL_KILLS", 50)
	w := newEvalWorld(t)
	if out, err := w.command("calm", "suite.yaml", "-q", "--id", "e1").CombinedOutput(); err != nil {
		t.Fatalf("undisturbed: %v\n%s", err, out)
	}
	want := w.summary("calm")
	done, evaluations, asked := 0, 0, 0
	for evaluations = 0; done < kills; evaluations++ {
		home := fmt.Sprintf("home%d", evaluations)
		n, requests := w.untilItEnds(home, kills-done)
		done, asked = done+n, asked+requests
		if got := w.summary(home); !bytes.Equal(got, want) {
			t.Fatalf("the report is\n%s\nthat of the undisturbed evaluation\n%s", got, want)
		}
	}
	t.Logf("%d kills of %d evaluations of %d trials: %d requests; no finished trial ran again", done, evaluations, 2*evalCases, asked)
}

// untilItEnds kills an evaluation until it gets to its end.
func (w *evalWorld) untilItEnds(home string, most int) (kills, requests int) {
	w.t.Helper()
	w.server.Asked()
	args := []string{"suite.yaml", "-q", "--id", "e1"}
	for n := 1; ; n++ {
		before := w.finished(home, "e1")
		c := w.command(home, args...)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			w.t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		window := time.Duration(60+30*n) * time.Millisecond
		select {
		case err := <-ended:
			w.check(before, &requests)
			if err != nil {
				w.t.Fatalf("%v\n%s", err, said.String())
			}
			return kills, requests
		case <-time.After(20*time.Millisecond + rand.N(window)):
			_ = c.Process.Kill()
			<-ended
			kills++
			w.check(before, &requests)
		}
		if _, err := os.Stat(filepath.Join(w.dir, home, "evals", "e1", "manifest.json")); err == nil {
			args = []string{"suite.yaml", "-q", "--resume", "e1"}
		} else {
			_ = os.RemoveAll(filepath.Join(w.dir, home, "evals", "e1"))
		}
		if kills > 10*most+100 {
			w.t.Fatal("it never gets done")
		}
	}
}

// check sees that no trial was asked about whose case had all its rows.
func (w *evalWorld) check(before map[string]int, requests *int) {
	w.t.Helper()
	for _, prompt := range w.server.Asked() {
		*requests++
		if id := caseOf(prompt); before[id] >= 2 {
			w.t.Fatalf("case %s had its rows and was run again", id)
		}
	}
}
