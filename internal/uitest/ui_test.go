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

	"github.com/chromedp/chromedp"
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

// A new user starts a run, watches it, approves, forks it with another limit and compares both.
func TestTheFirstTwelveClicks(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := open(t, s, 1280, 900)
	b.visit(s.url("/"))
	b.click(`a[href="/agents"]`)
	b.click(`a[href="/agents/desk"]`)
	b.write(`textarea[name=question]`, "What is 2 + 2?")
	b.click(`.start button`)
	b.await(`!!document.querySelector("button[value=approve]")`)
	b.shoot("waiting")
	b.click(`button[value=approve]`)
	b.await(`document.querySelector(".verdict strong")?.textContent === "completed"`)
	if answer := eval[string](b, `document.querySelector(".answer").textContent`); !strings.Contains(answer, "The sum is 4.") {
		t.Error(answer)
	}
	b.shoot("completed")
	b.click(`a[href$="/fork"]`)
	b.shoot("fork")
	b.do(chromedp.SetValue(chromedp.CSS(`select[name=at]`), "reflect.1/model"))
	b.write(`textarea[name=set]`, "limits.max_steps=7")
	b.click(`.start button`)
	b.await(`location.pathname.startsWith("/runs/r-") && document.querySelector(".verdict strong")?.textContent === "completed" && !!document.querySelector('a[href*="/diff/"]')`)
	b.click(`a[href*="/diff/"]`)
	b.await(`document.querySelector("h1").textContent === "Compare runs"`)
	b.shoot("diff")
	b.click(`nav a[href="/"]`)
	b.await(`document.querySelectorAll(".rows tbody tr").length === 2`)
	b.shoot("runs")
	t.Logf("%d clicks", b.clicks)
	if b.clicks > 12 {
		t.Errorf("%d clicks", b.clicks)
	}
}

// The page of a run says that the server is gone, and continues when it is back.
func TestThePageContinuesAfterAKill(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := open(t, s, 1280, 900)
	b.visit(s.url("/agents/desk"))
	b.write(`textarea[name=question]`, "What is 2 + 2?")
	b.click(`.start button`)
	b.await(`!!document.querySelector("button[value=approve]")`)
	b.write(`input[name=reason]`, "half a thought")
	s.kill()
	b.await(`!document.getElementById("offline").hidden`)
	s.start()
	b.await(`document.getElementById("offline").hidden`)
	if reason := eval[string](b, `document.querySelector("input[name=reason]").value`); reason != "half a thought" {
		t.Errorf("reason: %q", reason)
	}
	b.click(`button[value=approve]`)
	b.await(`document.querySelector(".verdict strong")?.textContent === "completed"`)
}

// Two tabs show the same: an answer in one closes the question in the other.
func TestTabsAgree(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	a, b := open(t, s, 1280, 900), open(t, s, 390, 844)
	a.visit(s.url("/agents/desk"))
	a.write(`textarea[name=question]`, "What is 2 + 2?")
	a.click(`.start button`)
	a.await(`!!document.querySelector("button[value=approve]")`)
	b.visit(s.url("/inbox"))
	b.await(`document.querySelectorAll("button[value=approve]").length === 1`)
	b.shoot("inbox-phone")
	b.visit(s.url(eval[string](a, `location.pathname`)))
	b.shoot("run-phone")
	b.click(`button[value=deny]`)
	a.await(`document.querySelectorAll("button[value=approve]").length === 0`)
	if wide := eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
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
	b := open(t, s, 1280, 900)
	b.visit(s.url("/agents"))
	b.visit(s.url("/agents/desk"))
	b.write(`textarea[name=question]`, all)
	b.click(`.start button`)
	b.await(`!!document.querySelector("button[value=approve]")`)
	run := eval[string](b, `location.pathname`)
	b.visit(s.url("/inbox"))
	b.visit(s.url("/"))
	b.visit(s.url(run))
	b.write(`input[name=text]`, all+"\n")
	b.await(`!!document.querySelector("button[value=approve]")`)
	b.click(`button[value=approve]`)
	b.await(`document.querySelector("#live").dataset.status === "completed" || document.querySelector("#live").dataset.status === "failed"`)
	eval[chromedp.Void](b, `document.querySelectorAll("details").forEach((d) => d.open = true)`)
	b.visit(s.url("/runs?q=" + "%3Cscript%3Ealert(1)%3C/script%3E"))
	b.visit(s.url(run + "/diff" + strings.TrimPrefix(run, "/runs")))
	b.visit(s.url("/runs/%3Cscript%3Ealert(1)%3C%2Fscript%3E"))
}

// The page of a run is small and fast.
func TestThePageOfARunIsSmallAndFast(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := open(t, s, 1280, 900)
	b.visit(s.url("/agents/desk"))
	b.write(`textarea[name=question]`, "What is 2 + 2?")
	b.click(`.start button`)
	b.await(`!!document.querySelector("button[value=approve]")`)
	b.click(`button[value=approve]`)
	b.await(`document.querySelector(".verdict strong")?.textContent === "completed"`)
	page := eval[string](b, `location.pathname`)
	size := 0
	for _, path := range append(eval[[]string](b, `[...document.querySelectorAll("link,script")].map((e) => new URL(e.href || e.src).pathname)`), page) {
		size += compressed(t, s.url(path))
	}
	b.visit(s.url(page))
	b.visit(s.url(page))
	loaded := eval[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)
	t.Logf("page, style and script: %d bytes compressed; loaded after %.0f ms", size, loaded)
	if size > 80<<10 {
		t.Errorf("%d bytes", size)
	}
}

func compressed(t *testing.T, url string) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
