//go:build e2e

package uitest_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/browsertest"
)

// priced is an agent whose runs cost something, and end at once.
const priced = `apiVersion: pex/v1
kind: Agent
metadata: {name: priced}
llms:
  main:
    provider: scripted
    cost: {input: 3, output: 15}
    options:
      replies:
        - {role: planner, delay: 20ms, times: 0, text: '{"steps": ["Answer"], "result": ""}'}
        - {role: executor, times: 0, text: "done"}
        - {role: reflector, times: 0, text: '{"steps": [], "result": "Done."}'}
planner: {llm: main}
memory: {backend: none}
`

// runs starts runs of an agent and waits for them.
func (s *server) runs(agent string, n int) {
	s.t.Helper()
	for range n {
		r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url("/v1/agents/"+agent+"/runs"), strings.NewReader(`{"question": "Hi"}`))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Prefer", "wait=30")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			s.t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusOK {
			s.t.Fatal(res.Status)
		}
	}
}

// shootAll takes pictures of a page on a screen and a phone, light and dark. Every text must be legible, and the page no
// wider than a phone.
func shootAll(t *testing.T, b *browsertest.Tab, name string) {
	t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		b.Scheme(scheme)
		if poor := b.LowContrast(); len(poor) > 0 {
			t.Errorf("%s, %s: %q", name, scheme, poor)
		}
	}
	b.Size(390, 844)
	b.Await(`document.documentElement.scrollWidth <= innerWidth`)
	b.Shoot(name + "-phone")
	b.Size(1280, 900)
	b.Shoot(name)
}

// The charts of the usage are drawn without a report of the content security policy, which fails the test, and their
// tables have the same values.
func TestUsageIsDrawn(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": priced, "other/spec.yaml": strings.Replace(priced, "name: priced", "name: other", 1)})
	s.runs("priced", 3)
	s.runs("other", 1)
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/usage"))
	b.Await(`document.querySelectorAll(".chart").length > 3 && [...document.querySelectorAll(".chart")].every((c) => c.querySelector("canvas"))`)
	if n := browsertest.Value[int](b, `document.querySelectorAll(".chart details tbody tr").length / document.querySelectorAll(".chart").length`); n != 30 {
		t.Errorf("%d days", n)
	}
	if legend := b.Texts(`.chart .u-legend`); !strings.Contains(strings.Join(legend, " "), "priced") {
		t.Errorf("%q", legend)
	}
	if open := browsertest.Value[int](b, `document.querySelectorAll(".chart details[open]").length`); open != 0 {
		t.Errorf("%d tables are open", open)
	}
	shootAll(t, b, "usage")
	size := 0
	for _, path := range append(browsertest.Value[[]string](b, `[...document.querySelectorAll("link,script")].map((e) => new URL(e.href || e.src).pathname)`), "/usage") {
		size += compressed(t, s.url(path))
	}
	t.Logf("page of the usage with uPlot: %d bytes compressed", size)
	if size > 80<<10 {
		t.Errorf("%d bytes", size)
	}
}

// suite is a suite of priced.
const suite = `apiVersion: pex/v1
kind: Suite
metadata: {name: sums}
spec: priced
dataset: cases.jsonl
checks: [{type: contains, value: Done}]
`

// evaluate evaluates the suite in the folder of the server.
func (s *server) evaluate() {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), pexctl, "eval", "suite.yaml", "-q", "--home", filepath.Join(s.dir, "home"))
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

// The trend of a suite is drawn with its interval; the page of an agent has the pass rate of its version, its prompts and
// its last runs.
func TestTrendsAreDrawn(t *testing.T) {
	s := serve(t, map[string]string{
		"priced/spec.yaml": priced, "suite.yaml": suite,
		"cases.jsonl": `{"id": "a", "question": "One?"}` + "\n" + `{"id": "b", "question": "Two?"}` + "\n",
	})
	for range 3 {
		s.evaluate()
	}
	s.runs("priced", 2)
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/evals"))
	b.Await(`document.querySelectorAll(".chart canvas").length === 3`)
	shootAll(t, b, "evals")
	b.Click(`.rows .question a`)
	b.Await(`location.pathname.startsWith("/evals/e-")`)
	shootAll(t, b, "eval")
	b.Click(`main a[href^="/agents/"]`)
	b.Await(`location.pathname === "/agents/priced"`)
	if text := strings.Join(b.Texts(`main table`), " "); !strings.Contains(text, "current") || !strings.Contains(text, "sums") || !strings.Contains(text, "100.0%") {
		t.Error(text)
	}
	shootAll(t, b, "agent")
}
