//go:build e2e

package uitest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/browsertest"
)

// varying are the texts of a page that differ from run to run.
var varying = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\b[re]-\d{8}-\d{6}-[0-9a-f]+\b`), "ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\d+(\.\d+)? ?(ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`just now|\d+ (second|minute)s? ago`), "AGO"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "HOST"},
	{regexp.MustCompile(`[0-9a-f]{12,}`), "DIGEST"},
}

// structure returns faults in the headings and landmarks of a page.
const structure = `(() => {
	const found = [];
	const visible = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
	if (visible("main").length !== 1) found.push("landmark main");
	if (visible("nav[aria-label]").length !== 1) found.push("landmark navigation");
	if (visible("h1").length !== 1) found.push(visible("h1").length + " h1");
	let last = 0;
	for (const h of visible("h1,h2,h3,h4,h5,h6")) {
		const level = Number(h.localName[1]);
		if (level > last + 1) found.push(h.localName + " after h" + last + ": " + h.textContent);
		last = level;
	}
	const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
	for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) found.push("id twice: " + id);
	if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the window");
	if (document.getAnimations().length) found.push("animations");
	if (!document.documentElement.lang || !document.title) found.push("language or title");
	return found;
})()`

// accessible checks a page, and compares what a screen reader finds with a golden file.
func accessible(t *testing.T, b *browsertest.Tab, name string) {
	t.Helper()
	b.Await(`document.readyState === "complete"`)
	tree, unnamed := b.AccessibilityTree()
	for _, v := range varying {
		tree = v.pattern.ReplaceAllString(tree, v.by)
	}
	goldentest.File(t, "accessibility/"+name+".txt", tree)
	if len(unnamed) > 0 {
		t.Errorf("%s: without a name: %q", name, unnamed)
	}
	for _, width := range []int{390, 1280} {
		b.Size(width, 900)
		if found := browsertest.Value[[]string](b, structure); len(found) > 0 {
			t.Errorf("%s, %d wide: %q", name, width, found)
		}
	}
	for _, scheme := range []string{"dark", "light"} {
		b.Scheme(scheme)
		if poor := b.LowContrast(); len(poor) > 0 {
			t.Errorf("%s, %s: low contrast: %q", name, scheme, poor)
		}
	}
	b.Shoot("a11y-" + name)
}

// Every page has named controls, ordered headings, landmarks and enough contrast.
func TestPagesAreAccessible(t *testing.T) {
	files := guarded()
	files["desk/spec.yaml"] = strings.Replace(desk, "memory: {backend: none}", "memory: {backend: badger}", 1)
	files["priced/spec.yaml"], files["suite.yaml"] = priced, suite
	files["server.yaml"] = strings.Replace(files["server.yaml"], "agents: {", "agents: {priced: {spec: priced/spec.yaml}, ", 1)
	files["cases.jsonl"] = `{"id": "a", "question": "One?"}` + "\n"
	s := serve(t, files)
	s.evaluate()
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/"))
	accessible(t, b, "signin")
	b.Type(`input[type=password]`, "secret-of-ann\n")
	b.Await(`document.querySelector("h1").textContent === "Runs"`)
	for _, page := range []struct{ name, path string }{{"runs-empty", "/"}, {"agents", "/agents"}, {"agent", "/agents/desk"}, {"inbox-empty", "/inbox"}, {"problem", "/runs/nothing"}} {
		b.Visit(s.url(page.path))
		accessible(t, b, page.name)
	}
	b.Visit(s.url("/agents/desk"))
	b.Type(`textarea[name=question]`, "What is 2 + 2?")
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	run := browsertest.Value[string](b, `location.pathname`)
	accessible(t, b, "run-waiting")
	b.Visit(s.url("/inbox"))
	accessible(t, b, "inbox")
	b.Visit(s.url(run))
	b.Click(`button[value=approve]`)
	b.Await(`document.getElementById("live").dataset.status === "completed"`)
	b.Visit(s.url(run))
	b.Click(`#rows .item.model summary`)
	b.Await(`document.querySelector("#rows .item.model .body").textContent.includes("Prompt")`)
	accessible(t, b, "run-completed")
	b.Key("?")
	accessible(t, b, "keys")
	for _, page := range []struct{ name, path string }{
		{"call", run + "/calls/plan.1/model"}, {"fork", run + "/fork"}, {"diff", run + "/diff" + strings.TrimPrefix(run, "/runs")}, {"runs", "/"}, {"evals", "/evals"}, {"usage", "/usage"}, {"conversations", "/conversations"}, {"chat", "/chat/desk"},
	} {
		b.Visit(s.url(page.path))
		accessible(t, b, page.name)
	}
	for _, page := range []struct{ name, list string }{{"eval", "/evals"}, {"conversation", "/conversations"}} {
		b.Visit(s.url(page.list))
		b.Click(`.rows .question a`)
		b.Await(`location.pathname.startsWith("` + page.list + `/")`)
		accessible(t, b, page.name)
	}
}
