//go:build e2e

package uitest_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/browsertest"
)

// adder is an agent whose runs have 40 steps with 25 model calls and 24 tool calls each.
const adder = `apiVersion: pex/v1
kind: Agent
metadata: {name: adder}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, times: 0, text: '{"steps": ["Add"], "result": ""}'}
        - {role: executor, times: 0, delay: 10ms, when: 'call % 25 != 0', tool_calls: [{name: calculator, arguments: {expression: 2 + 2}}]}
        - {role: executor, times: 0, text: done}
        - {role: reflector, times: 0, when: 'call < 40', text: '{"steps": ["Add more"], "result": ""}'}
        - {role: reflector, times: 0, text: '{"steps": [], "result": "All sums are 4."}'}
planner: {llm: main}
limits: {max_steps: 50, max_replans: 50, max_tool_calls: 1000, executor_max_iterations: 30, max_consecutive_tool_calls: 30, max_duration: 10m}
tools: {calculator: {}}
memory: {backend: none}
`

// patches are the answers with which the page of a run has updated itself.
type patches struct {
	Count   int `json:"count"`
	Largest int `json:"largest"` // bytes
	Total   int `json:"total"`
}

const readPatches = `(() => {
	const all = performance.getEntriesByType("resource").filter((e) => e.name.includes("have=")).map((e) => e.decodedBodySize);
	return {count: all.length, largest: Math.max(0, ...all), total: all.reduce((sum, n) => sum + n, 0)};
})()`

// The page of a run of 2,000 calls stays responsive while the run grows, and receives only what
// has changed.
func TestThePageOfALargeRunGrows(t *testing.T) {
	s := serve(t, map[string]string{"adder/spec.yaml": adder})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/agents/adder"))
	b.Type(`textarea[name=question]`, "Add for a long time")
	b.Click(`.start button`)
	b.Await(`document.querySelectorAll("#rows .item").length > 0`)
	b.Eval(`performance.setResourceTimingBufferSize(10000)`, nil)
	b.WatchFrames()
	b.Eval(`document.querySelector("#rows .item summary").focus()`, nil)
	b.Await(`document.querySelectorAll("#rows .item").length > 300`)
	b.Click(`#rows .item.model summary`)
	b.Await(`document.querySelector("#rows .item.model .body").textContent.includes("Prompt")`)
	for range 4 { // Await waits for half a minute at most
		if status := browsertest.Value[string](b, `new Promise((done) => { const until = performance.now() + 25000; const look = () => {
			const status = document.getElementById("live").dataset.status;
			if (status === "completed" || performance.now() > until) done(status); else setTimeout(look, 100);
		}; look(); })`); status == "completed" {
			break
		}
	}
	b.Await(`document.querySelectorAll("#rows .item").length >= 1990`)
	grown, sent := b.Frames(), browsertest.Value[patches](b, readPatches)
	heap, nodes := b.Memory()
	process := b.Process()
	if open := browsertest.Value[bool](b, `document.querySelector("#rows .item.model").open && document.activeElement === document.querySelector("#rows .item.model summary")`); !open {
		t.Error("the call that was open and focused is not any more")
	}

	var scrolled browsertest.Frames
	for i := range 3 { // other load on the machine can only increase the times: the best counts
		b.Eval(`scrollTo(0, 0)`, nil)
		b.WatchFrames()
		b.Eval(`new Promise((done) => { let y = 0; const step = () => { scrollTo(0, y += 600); if (y < document.documentElement.scrollHeight) requestAnimationFrame(step); else done(true); }; step(); })`, nil)
		if f := b.Frames(); i == 0 || f.P95 < scrolled.P95 {
			scrolled = f
		}
	}
	page := compressed(t, s.url(browsertest.Value[string](b, `location.pathname`)))
	rss := s.memory()
	t.Logf("2,000 calls live: longest frame %.0f ms, 95%% below %.0f ms, longest task %.0f ms; scrolling: longest frame %.0f ms, 95%% below %.0f ms", grown.Longest, grown.P95, grown.Work, scrolled.Longest, scrolled.P95)
	t.Logf("2,000 calls live: %d updates, largest %d kB, all %d kB; whole page %d kB compressed", sent.Count, sent.Largest>>10, sent.Total>>10, page>>10)
	t.Logf("2,000 calls live: page %d kB of JavaScript and %d nodes, its process %d MB, server at most %d MB", heap>>10, nodes, process>>20, rss>>20)
	if grown.P95 > 100 || scrolled.P95 > 100 {
		t.Errorf("frames of %.0f ms and %.0f ms", grown.P95, scrolled.P95)
	}
	if sent.Largest > 256<<10 {
		t.Errorf("an update of %d bytes", sent.Largest)
	}
	if max(heap, process) > 150<<20 || rss > 256<<20 {
		t.Errorf("memory: page %d, its process %d, server %d", heap, process, rss)
	}
}

// memory returns the maximum resident memory of the server in bytes.
func (s *server) memory() int {
	s.t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		s.t.Skip(err) // not Linux
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
			return n << 10
		}
	}
	return 0
}
