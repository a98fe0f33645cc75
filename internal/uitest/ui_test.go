//go:build e2e

package uitest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/browsertest"
)

// desk is an agent that asks before it calculates, and takes a while.
const desk = `apiVersion: pex/v1
kind: Agent
metadata: {name: desk, description: Adds numbers.}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, delay: 200ms, times: 0, text: '{"steps": ["Add"], "result": ""}'}
        - {role: executor, times: 0, when: 'call == 1', tool_calls: [{name: calculator, arguments: {expression: 2 + 2}}]}
        - {role: executor, times: 0, text: "done"}
        - {role: reflector, times: 0, text: '{"steps": [], "result": "The sum is 4."}'}
planner: {llm: main}
tools: {calculator: {approval: always}}
memory: {backend: none}
`

// A new user starts a run, watches it, approves, forks it with another prompt and compares both.
func TestTheFirstTwelveClicks(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/"))
	b.Click(`a[href="/agents"]`)
	b.Click(`a[href="/agents/desk"]`)
	b.Type(`textarea[name=question]`, "What is 2 + 2?")
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	b.Shoot("waiting")
	b.Click(`button[value=approve]`)
	b.Await(`document.querySelector(".verdict strong")?.textContent === "completed"`)
	if answer := browsertest.Value[string](b, `document.querySelector(".answer").textContent`); !strings.Contains(answer, "The sum is 4.") {
		t.Error(answer)
	}
	b.Shoot("completed")
	b.Click(`a[href$="/fork"]`)
	b.Choose(`select[name=at]`, "reflect.1/model")
	b.Click(`button[value=show]`)
	b.Await(`!!document.querySelector(".fork > .prompt")`)
	browsertest.Value[string](b, `document.querySelector("textarea[name='prompt.reflector.reflect_prompt']").value = "Be strict."`)
	b.Click(`button[value=check]`)
	b.Await(`document.querySelector("#check")?.textContent.includes("with another request: prompt")`)
	b.Shoot("fork")
	b.Size(390, 844)
	b.Shoot("fork-phone")
	if wide := browsertest.Value[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the form of a fork is wider than a phone")
	}
	b.Size(1280, 900)
	b.Click(`button[value=fork]`)
	b.Await(`location.pathname.startsWith("/runs/r-") && document.querySelector(".verdict strong")?.textContent === "completed" && !!document.querySelector('a[href*="/diff/"]')`)
	b.Click(`a[href*="/diff/"]`)
	b.Await(`document.querySelector("h1").textContent === "Compare runs"`)
	if prompt := browsertest.Value[string](b, `document.querySelector("h2").textContent`); !strings.Contains(prompt, "reflector.reflect_prompt") {
		t.Error(prompt)
	}
	b.Shoot("diff")
	b.Size(390, 844)
	b.Shoot("diff-phone")
	b.Size(1280, 900)
	b.Click(`nav a[href="/"]`)
	b.Await(`document.querySelectorAll(".rows tbody tr").length === 2`)
	b.Shoot("runs")
	t.Logf("%d clicks", b.Clicks)
	if b.Clicks > 12 {
		t.Errorf("%d clicks", b.Clicks)
	}
}

// The page of a run says that the server is gone, and continues when it is back.
func TestThePageContinuesAfterAKill(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/agents/desk"))
	b.Type(`textarea[name=question]`, "What is 2 + 2?")
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	b.Type(`input[name=reason]`, "half a thought")
	s.kill()
	b.Await(`!document.getElementById("offline").hidden`)
	s.start()
	b.Await(`document.getElementById("offline").hidden`)
	if reason := browsertest.Value[string](b, `document.querySelector("input[name=reason]").value`); reason != "half a thought" {
		t.Errorf("reason: %q", reason)
	}
	b.Click(`button[value=approve]`)
	b.Await(`document.querySelector(".verdict strong")?.textContent === "completed"`)
}

// Two tabs show the same: an answer in one closes the question in the other.
func TestTabsAgree(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	a, b := browsertest.Open(t, s.url("/"), 1280, 900), browsertest.Open(t, s.url("/"), 390, 844)
	a.Visit(s.url("/agents/desk"))
	a.Type(`textarea[name=question]`, "What is 2 + 2?")
	a.Click(`.start button`)
	a.Await(`!!document.querySelector("button[value=approve]")`)
	b.Visit(s.url("/inbox"))
	b.Await(`document.querySelectorAll("button[value=approve]").length === 1`)
	b.Shoot("inbox-phone")
	b.Visit(s.url(browsertest.Value[string](a, `location.pathname`)))
	b.Shoot("run-phone")
	b.Click(`button[value=deny]`)
	a.Await(`document.querySelectorAll("button[value=approve]").length === 0`)
	if wide := browsertest.Value[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page of a run is wider than a phone")
	}
}

// hostile are texts that must stay texts.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</textarea><script>alert(1)</script>`, `{{.}}`, `javascript:alert(1)`, `<svg onload=alert(1)>`,
	`<a href="https://evil.example/">x</a><link rel=stylesheet href=//evil.example/x.css>`, "\u202etxt.exe", `<!--`, `]]>`, `' onfocus=alert(1) autofocus '`, `<form action="//evil.example"><button>`,
}

// Hostile texts of clients, models and tools are inert on every page.
func TestHostileTextsAreInert(t *testing.T) {
	all := strings.Join(hostile, " ")
	quoted := func(s string) string { return strings.ReplaceAll(fmt.Sprintf("%q", s), "'", "''") }
	spec := strings.NewReplacer("Adds numbers.", "'"+strings.ReplaceAll(all, "'", "''")+"'", `["Add"]`, "["+quoted(all)+"]", "The sum is 4.", strings.Trim(quoted(all), `"`), `text: "done"`, `text: '`+strings.ReplaceAll(all, "'", "''")+`'`).Replace(desk)
	s := serve(t, map[string]string{"desk/spec.yaml": spec})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/agents"))
	b.Visit(s.url("/agents/desk"))
	b.Type(`textarea[name=question]`, all)
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	run := browsertest.Value[string](b, `location.pathname`)
	b.Visit(s.url("/inbox"))
	b.Visit(s.url("/"))
	b.Visit(s.url(run))
	b.Type(`input[name=text]`, all+"\n")
	b.Await(`!!document.querySelector("button[value=approve]")`)
	b.Click(`button[value=approve]`)
	b.Await(`document.querySelector("#live").dataset.status === "completed" || document.querySelector("#live").dataset.status === "failed"`)
	b.Eval(`document.querySelectorAll("details").forEach((d) => d.open = true)`, nil)
	b.Await(`!document.querySelector("#rows [data-load]")`)
	b.Visit(s.url("/chat/desk?c=%3Cscript%3Ealert(1)%3C/script%3E"))
	b.Type(`textarea[name=text]`, all)
	b.Click(`#message .primary`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	b.Click(`button[value=approve]`)
	b.Await(`!!document.querySelector(".turn .answer")`)
	b.Visit(s.url("/usage?span=%3Cscript%3Ealert(1)%3C/script%3E"))
	b.Await(`!!document.querySelector(".chart canvas")`)
	const script = "%3Cscript%3Ealert(1)%3C%2Fscript%3E"
	for _, page := range []string{
		"/runs?q=" + script, run + "/diff" + strings.TrimPrefix(run, "/runs"), "/runs/" + script, run + "/calls/plan.1/model", run + "/calls/step.s1/turn.1/tool.0", run + "/calls/" + script,
		run + "/fork?set=" + script + "&at=" + script, "/conversations", "/conversations/" + script, "/usage", "/usage?agent=" + script + "&span=" + script, "/evals", "/evals?suite=" + script, "/evals/" + script,
		"/agents/desk", "/agents/" + script, "/chat/desk", "/chat/" + script, "/conversations?q=" + script, "/diff?run=" + script + "&run=b", "/nothing/" + script, "/runs?cursor=" + script,
	} {
		b.Visit(s.url(page))
		b.Eval(`document.querySelectorAll("details").forEach((d) => d.open = true)`, nil)
		if found := browsertest.Value[[]string](b, foreignMarkup); len(found) > 0 {
			t.Errorf("%s: %q", page, found)
		}
	}
}

// foreignMarkup returns elements and attributes that no page has by itself.
const foreignMarkup = `(() => {
	const found = [];
	for (const e of document.querySelectorAll("*")) {
		if (/^(img|iframe|object|embed|base|meta|link|script|style)$/.test(e.localName) && !e.closest("head") && !e.closest("svg")) found.push("element " + e.localName);
		for (const a of e.attributes) {
			if (/^on|^srcdoc$|^formaction$|^ping$/i.test(a.name)) found.push(e.localName + " " + a.name);
			if (/href$|^action$|^src$/i.test(a.name) && !/^[/#]/.test(a.value)) found.push(e.localName + " " + a.name + "=" + a.value);
		}
	}
	return found;
})()`

// The page of a run is small and fast.
func TestThePageOfARunIsSmallAndFast(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/agents/desk"))
	b.Type(`textarea[name=question]`, "What is 2 + 2?")
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("button[value=approve]")`)
	b.Click(`button[value=approve]`)
	b.Await(`document.querySelector(".verdict strong")?.textContent === "completed"`)
	page := browsertest.Value[string](b, `location.pathname`)
	size := 0
	for _, path := range append(browsertest.Value[[]string](b, `[...document.querySelectorAll("link,script")].map((e) => new URL(e.href || e.src).pathname)`), page) {
		size += compressed(t, s.url(path))
	}
	b.Visit(s.url(page))
	b.Visit(s.url(page))
	loaded := browsertest.Value[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)
	t.Logf("page, style and script: %d bytes compressed; loaded after %.0f ms", size, loaded)
	if size > 80<<10 {
		t.Errorf("%d bytes", size)
	}
}

// compressed returns the size of a page or file after compression.
func compressed(t *testing.T, url string) int {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(fetched(t, url)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

func fetched(t *testing.T, url string) []byte {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err)
	}
	return body
}
