//go:build e2e && unix

package html_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/report/html"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// writtenURL writes a report to a file and returns its URL.
func writtenURL(t *testing.T, r *report.Report, rows trial.Rows) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := html.Write(f, r, rows); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// choose selects an option of a select element by its text.
func choose(b *browser, id, text string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = [...s.options].find((o) => o.text === %q).value; s.dispatchEvent(new Event("change")); })()`, id, text), nil)
}

func find(b *browser, text string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`(() => { const f = document.getElementById("find"); f.value = %q; f.dispatchEvent(new Event("input")); })()`, text), nil)
}

// names returns the names of the cases in the first rows.
func names(b *browser, lines int) []string {
	b.t.Helper()
	got := b.text("#lines .name a")
	return got[:min(lines, len(got))]
}

// firstFailed returns the number of the first case with a failed trial.
func (w world) firstFailed(variant string) int {
	for row := range w.rows() {
		if row.Outcome == trial.Failed && row.Variant == variant {
			return row.Line - 1
		}
	}
	return -1
}

func TestE2EReportShowsItsStatistics(t *testing.T) {
	b, w := startBrowser(t), newWorld(20)
	b.open(writtenURL(t, w.report, w.rows))
	equal(t, "verdict", b.text(".verdict span"), []string{"the pass rate is 3.9 points below the baseline (95% interval 1.2 to 6.6 below)"})
	equal(t, "figures", b.text(".tile .figure"), []string{"84.2%", "120", "1", "$0.8400", "1.31\u00a0s", "984.0k"})
	equal(t, "gates", b.text("#gates tbody tr td:first-child"), []string{"passed", "passed", "failed"})
	equal(t, "changes", b.text("#baseline td:nth-child(4)"), []string{"−3.9 points", "−0.03", "−$0.0002", "+190\u00a0ms", "same", "−62", "+13", "+1"})
	equal(t, "groups of changes", b.text("#changes h2 .badge"), []string{"newly failing", "newly passing"})
	equal(t, "newly failing", b.text("#changes h2:first-of-type + .scroll tbody a"), []string{"case-00007", "case-00023"})
	var charts []string
	b.eval(`[...document.querySelectorAll("figcaption")].map((f) => f.firstChild.data)`, &charts)
	equal(t, "charts", charts, []string{"Pass rate by variant", "Pass rate by group", "Pass rate per check", "Latency", "Cost per trial", "Tokens per trial", "Score"})
	var bars int
	b.eval(`[...document.querySelectorAll("#spreads figure:first-child .bars g")].reduce((n, g) => n + Number((g.textContent.match(/(\d+) passed/) || [0, 0])[1]), 0)`, &bars)
	passed := 0
	for row := range w.rows() {
		if row.Outcome == trial.Passed {
			passed++
		}
	}
	equal(t, "passed trials in the histogram", bars, passed)
	if f := b.faults(); f != "" {
		t.Error(f)
	}
}

// TestE2EChartsHaveTheReportsMedian: the median of graded trials, by nearest rank, equals
// the value in the tile above the charts, also for an even number of trials.
func TestE2EChartsHaveTheReportsMedian(t *testing.T) {
	for _, cases := range []int{1, 2, 3} {
		b, w := startBrowser(t), newWorld(cases)
		b.open(writtenURL(t, w.report, w.rows))
		var all []float64
		for row := range w.rows() {
			if row.Outcome == trial.Passed || row.Outcome == trial.Failed {
				all = append(all, row.Run.LatencyMS)
			}
		}
		slices.Sort(all)
		want := fmt.Sprintf("median %.2f\u00a0s, ", all[(len(all)+1)/2-1]/1000)
		equal(t, "latency", b.text("#spreads figure:first-child figcaption p")[0][:len(want)], want)
	}
}

func TestE2ETableIsFilteredAndSorted(t *testing.T) {
	b, w := startBrowser(t), newWorld(120)
	b.open(writtenURL(t, w.report, w.rows))
	equal(t, "found", b.text("#found"), []string{"240"})
	equal(t, "in the order of the dataset", names(b, 3), []string{"case-00001", "case-00001", "case-00002"})
	b.eval(`document.querySelector("#by-latency button").click()`, nil)
	var slowest []string
	b.eval(`[...document.querySelectorAll("th")].filter((th) => th.ariaSort).map((th) => th.id + " " + th.ariaSort)`, &slowest)
	equal(t, "sorted by", slowest, []string{"by-latency descending"})
	choose(b, "only-variant", "small")
	choose(b, "only-outcome", "failed a trial")
	failed := w.firstFailed("small")
	find(b, fmt.Sprintf("ORDER %d ", 1000+failed))
	equal(t, "found", b.text("#found"), []string{"1 of 240"})
	equal(t, "case", names(b, 9), []string{caseID(failed)})
	find(b, "no such thing")
	equal(t, "nothing", b.text("#lines"), []string{"No cases match."})
	b.eval(`document.querySelector(".toolbar [type=reset]").click()`, nil)
	equal(t, "found after reset", b.text("#found"), []string{"240"})
	b.eval(`document.querySelector("#pages button:last-child").click()`, nil)
	equal(t, "page", b.text("#pages span"), []string{"51 to 100 of 240"})
}

func TestE2EKeysMoveThroughTableAndCases(t *testing.T) {
	b, w := startBrowser(t), newWorld(10)
	b.open(writtenURL(t, w.report, w.rows))
	focused := func() string {
		var s string
		b.eval(`document.activeElement.id || document.activeElement.textContent`, &s)
		return s
	}
	b.key("/")
	equal(t, "after /", focused(), "find")
	b.key("ArrowDown")
	b.key("ArrowDown")
	b.key("ArrowDown")
	equal(t, "after three times down", focused(), "case-00002")
	b.eval(`document.activeElement.click()`, nil) // same as Enter on a link
	b.until(`!document.getElementById("opened").hidden`)
	equal(t, "opened", b.text("#opened .caseid")[0][:10], "case-00002")
	equal(t, "focus", focused(), "opened")
	b.key("n")
	b.until(`location.hash.includes("small")`)
	b.key("Escape")
	b.until(`document.getElementById("opened").hidden`)
	equal(t, "focus is where it was", focused(), "case-00002")
}

func TestE2ELinksLeadToCasesAndTrials(t *testing.T) {
	b, w := startBrowser(t), newWorld(300)
	url := writtenURL(t, w.report, w.rows)
	b.open(url + "#case=case-00250&variant=small&trial=2")
	equal(t, "trial", b.text("[aria-current]"), []string{"2"})
	row := w.row(249, "small", 2)
	b.until(fmt.Sprintf(`document.getElementById("opened").textContent.includes(%q)`, row.Run.Response))
	b.until(fmt.Sprintf(`document.getElementById("opened").textContent.includes(%q)`, row.Run.ID))
	b.open(url)
	b.eval(`document.querySelectorAll("#gates a")[1].click()`, nil) // case-00007 [small]
	b.until(`!document.getElementById("opened").hidden`)
	equal(t, "case of a gate", b.text("#opened .caseid")[0][:10], "case-00007")
	equal(t, "its variant", b.text(".matrix .chosen th"), []string{"small"})
	b.open(url + "#case=nobody")
	equal(t, "no such case", b.text("#opened .note"), []string{"There is no such case: nobody"})
	b.open(url + "#case=case-00250&variant=large&trial=2&with=small")
	var marks []string
	b.eval(`[...document.querySelectorAll(".beside .part")].filter((p) => p.textContent.startsWith("Answer")).map((p) => [...p.querySelectorAll("mark")].map((m) => m.textContent).join("|"))`, &marks)
	equal(t, "differences", marks, []string{"order |,|, and confirm|The change", " and|It| the house"})
}

// WCAG 2 AA requires a contrast of 4.5 to 1.
func TestE2EContrastMeetsWCAG(t *testing.T) {
	b, w := startBrowser(t), newWorld(30)
	url := writtenURL(t, w.report, w.rows)
	for _, scheme := range []string{"light", "dark"} {
		for _, hash := range []string{"", "#case=case-00002&variant=large&with=small"} {
			t.Run(scheme+hash, func(t *testing.T) {
				b.scheme(scheme)
				b.open(url + hash)
				var poor []string
				b.eval(contrast, &poor)
				equal(t, "texts with too little contrast", poor, []string{})
			})
		}
	}
}

const contrast = `(() => {
  const rgba = (s) => { const v = s.match(/[\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
  const poor = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility() || e.closest("svg, script, button:disabled, .skip")) continue;
    const a = light(rgba(getComputedStyle(e).color)), z = light(ground(e));
    const ratio = (Math.max(a, z) + 0.05) / (Math.min(a, z) + 0.05);
    if (ratio < 4.5) poor.add(ratio.toFixed(2) + " " + e.tagName + "." + e.className + " " + n.data.slice(0, 30));
  }
  return [...poor];
})()`

func TestE2EPictures(t *testing.T) {
	b, w := startBrowser(t), newWorld(100)
	url := writtenURL(t, w.report, w.rows)
	for _, p := range []struct {
		name, scheme, hash string
		width, height      int
	}{
		{"light", "light", "", 1280, 3000},
		{"dark", "dark", "", 1280, 3000},
		{"narrow", "light", "", 390, 1400},
		{"narrow-case", "dark", "#case=case-00002&variant=large&trial=3&with=small", 390, 2600},
		{"case", "light", "#case=case-00007&variant=small", 1280, 1500},
		{"beside", "light", "#case=case-00002&variant=large&trial=3&with=small", 1280, 1500},
		{"beside-dark", "dark", "#case=case-00002&variant=large&trial=3&with=small", 1280, 1500},
	} {
		b.size(p.width, p.height)
		b.scheme(p.scheme)
		b.open(url + p.hash)
		var wide int
		b.eval(`document.documentElement.scrollWidth`, &wide)
		if wide > p.width {
			t.Errorf("%s: the page is %d wide", p.name, wide)
		}
		var cut bool
		b.eval(`(document.getElementById("table").offsetWidth > document.getElementById("table").parentElement.clientWidth)`, &cut)
		if cut && p.width > 1000 {
			t.Errorf("%s: the table is clipped", p.name)
		}
		b.picture(p.name)
	}
	if f := b.faults(); f != "" {
		t.Error(f)
	}
}
