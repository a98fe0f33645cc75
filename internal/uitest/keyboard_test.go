//go:build e2e

package uitest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/browsertest"
)

// tabTo presses Tab until an element has the focus, and checks that each focus is visible.
func tabTo(t *testing.T, b *browsertest.Tab, selector string) {
	t.Helper()
	for range 60 {
		b.Key("Tab")
		at := browsertest.Value[struct {
			There   bool   `json:"there"`
			Visible bool   `json:"visible"`
			Name    string `json:"name"`
		}](b, fmt.Sprintf(`(() => {
			const e = document.activeElement;
			const shown = e.matches("a[href^='#']") && e.closest("svg") || getComputedStyle(e).outlineStyle !== "none";
			return {there: e.matches(%q), visible: e === document.body || Boolean(shown), name: e.outerHTML.slice(0, 100)};
		})()`, selector))
		if !at.Visible {
			t.Errorf("the focus cannot be seen: %s", at.Name)
		}
		if at.There {
			return
		}
	}
	t.Fatalf("%s cannot be reached", selector)
}

// start starts a run by keyboard, and waits for its question.
func startByKeyboard(t *testing.T, s *server, b *browsertest.Tab) (run string) {
	t.Helper()
	b.Visit(s.url("/"))
	tabTo(t, b, `main a[href="/agents"]`)
	b.Key("Enter")
	b.Await(`location.pathname === "/agents"`)
	tabTo(t, b, `main a[href="/agents/desk"]`)
	b.Key("Enter")
	b.Await(`location.pathname === "/agents/desk"`)
	tabTo(t, b, `textarea[name=question]`)
	b.Key("Sum?")
	tabTo(t, b, `.start button`)
	b.Key("Enter")
	b.Await(`location.pathname.startsWith("/runs/") && ` + listens + ` && !!document.querySelector("button[value=approve]")`)
	return browsertest.Value[string](b, `location.pathname`)
}

// listens is true once the page reacts to keys.
const listens = `!document.getElementById("show-keys").hidden`

const status = `document.getElementById("live").dataset.status`

// A person without a mouse starts runs, watches, approves, denies, edits, writes messages,
// cancels, forks and compares; a screen reader says what the run asks and that it has ended.
func TestEverythingWorksByKeyboard(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": desk})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	first := startByKeyboard(t, s, b)
	b.Key("?")
	b.Await(`document.getElementById("keys").open && document.activeElement.textContent === "Close"`)
	b.Key("Escape")
	b.Await(`!document.getElementById("keys").open`)
	b.Key("m")
	b.Await(`document.activeElement.name === "text"`)
	b.Key("Mind the units")
	b.Key("Enter")
	b.Await(listens + ` && document.querySelectorAll("#messages .card").length === 1 && !!document.querySelector("button[value=approve]")`)
	b.Key("j")
	b.Await(`document.activeElement.matches("#rows .item > summary")`)
	b.Key("Enter")
	b.Await(`document.activeElement.parentElement.open && document.activeElement.parentElement.textContent.includes("Prompt")`)
	b.Key("a")
	b.Await(`document.activeElement.value === "approve"`)
	b.Key("Enter")
	b.Await(status + ` === "completed"`)
	b.Visit(s.url(first))

	second := startByKeyboard(t, s, b)
	b.Key("d")
	b.Key("not now")
	tabTo(t, b, `button[value=deny]`)
	b.Key("Enter")
	b.Await(`document.querySelectorAll("#decisions .card").length === 1 && document.getElementById("decisions").textContent.includes("not now")`)

	startByKeyboard(t, s, b)
	tabTo(t, b, `.decision summary`)
	b.Key("Enter")
	tabTo(t, b, `textarea[name=edit]`)
	b.Eval(`document.activeElement.select()`, nil)
	b.Key(`{"expression": "3 + 3"}`)
	tabTo(t, b, `button[value=edit]`)
	b.Key("Enter")
	b.Await(`document.getElementById("decisions")?.textContent.includes("3 + 3")`)

	startByKeyboard(t, s, b)
	tabTo(t, b, `form[action$="/cancel"] button`)
	b.Key("Enter")
	b.Await(status + ` === "cancelled"`)
	b.Visit(s.url(first))
	tabTo(t, b, `a[href$="/fork"]`)
	b.Key("Enter")
	b.Await(`location.pathname.endsWith("/fork")`)
	tabTo(t, b, `main form button.primary`)
	b.Key("Enter")
	b.Await(`location.pathname.startsWith("/runs/r-") && !location.pathname.endsWith("/fork")`)

	b.Visit(s.url("/"))
	b.Key("/")
	b.Await(`document.activeElement.id === "filter"`)
	b.Key("Sum")
	b.Key("Enter")
	b.Await(`location.search.includes("q=Sum")`)
	for _, run := range []string{first, second} {
		tabTo(t, b, fmt.Sprintf(`input[value=%q]`, strings.TrimPrefix(run, "/runs/")))
		b.Key("Space")
		b.Eval(`document.activeElement.blur()`, nil)
	}
	if n := browsertest.Value[int](b, `document.querySelectorAll("input[name=run]:checked").length`); n != 2 {
		t.Fatalf("%d runs are selected", n)
	}
	tabTo(t, b, `form[action="/diff"] button`)
	b.Key("Enter")
	b.Await(`document.querySelector("h1").textContent === "Compare runs"`)
	b.Visit(s.url("/"))
	b.Key("j")
	b.Key("j")
	b.Key("k")
	b.Key("Enter")
	b.Await(`location.pathname.startsWith("/runs/r-")`)
}

// What happens while a person reads is announced, and does not take the focus away.
func TestChangesAreAnnounced(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": strings.Replace(desk, "delay: 200ms", "delay: 1s", 1)})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Media("prefers-reduced-motion", "reduce")
	b.Visit(s.url("/agents/desk"))
	b.Type(`textarea[name=question]`, "Sum?")
	b.Click(`.start button`)
	b.Await(`!!document.querySelector("#rows .item summary")`)
	b.Eval(`globalThis.said = []; new MutationObserver(() => said.push(document.getElementById("said").textContent)).observe(document.getElementById("said"), {childList: true});
		document.querySelector("#rows .item summary").focus()`, nil)
	b.Await(`said.some((s) => s === "The run asks: May step s1 call calculator?")`)
	if focused := browsertest.Value[bool](b, `document.activeElement.matches("#i-c1 > summary")`); !focused {
		t.Error("the focus has moved")
	}
	path := browsertest.Value[string](b, `document.querySelector("input[name=path]").value`)
	s.answer(browsertest.Value[string](b, `location.pathname`), path)
	b.Await(`said.some((s) => s === "The run is completed.")`)
	if focused := browsertest.Value[bool](b, `document.activeElement.matches("#i-c1 > summary") && document.getAnimations().length === 0`); !focused {
		t.Error("the focus has moved, or something moves")
	}
}
