//go:build e2e

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
	"github.com/pexctl/pex/internal/browsertest"
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

// open opens a report, and waits until its table is there.
func open(b *browsertest.Tab, url string) {
	b.Visit("about:blank") // a URL that differs only after its # would not be loaded again
	b.Visit(url)
	b.Await(`document.readyState === "complete" && performance.getEntriesByName("ready").length > 0`)
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// choose selects an option of a select element by its text.
func choose(b *browsertest.Tab, id, text string) {
	b.Eval(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = [...s.options].find((o) => o.text === %q).value; s.dispatchEvent(new Event("change")); })()`, id, text), nil)
}

func find(b *browsertest.Tab, text string) {
	b.Eval(fmt.Sprintf(`(() => { const f = document.getElementById("find"); f.value = %q; f.dispatchEvent(new Event("input")); })()`, text), nil)
}

// names returns the names of the cases in the first rows.
func names(b *browsertest.Tab, lines int) []string {
	got := b.Texts("#lines .name a")
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
	b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(20)
	open(b, writtenURL(t, w.report, w.rows))
	equal(t, "verdict", b.Texts(".verdict span"), []string{"the pass rate is 3.9 points below the baseline (95% interval 1.2 to 6.6 below)"})
	equal(t, "figures", b.Texts(".tile .figure"), []string{"84.2%", "120", "1", "$0.8400", "1.31\u00a0s", "984.0k"})
	equal(t, "gates", b.Texts("#gates tbody tr td:first-child"), []string{"passed", "passed", "failed"})
	equal(t, "changes", b.Texts("#baseline td:nth-child(4)"), []string{"−3.9 points", "−0.03", "−$0.0002", "+190\u00a0ms", "same", "−62", "+13", "+1"})
	equal(t, "groups of changes", b.Texts("#changes h2 .badge"), []string{"newly failing", "newly passing"})
	equal(t, "newly failing", b.Texts("#changes h2:first-of-type + .scroll tbody a"), []string{"case-00007", "case-00023"})
	var charts []string
	b.Eval(`[...document.querySelectorAll("figcaption")].map((f) => f.firstChild.data)`, &charts)
	equal(t, "charts", charts, []string{"Pass rate by variant", "Pass rate by group", "Pass rate per check", "Latency", "Cost per trial", "Tokens per trial", "Score"})
	var bars int
	b.Eval(`[...document.querySelectorAll("#spreads figure:first-child .bars g")].reduce((n, g) => n + Number((g.textContent.match(/(\d+) passed/) || [0, 0])[1]), 0)`, &bars)
	passed := 0
	for row := range w.rows() {
		if row.Outcome == trial.Passed {
			passed++
		}
	}
	equal(t, "passed trials in the histogram", bars, passed)
	if f := b.Faults(); f != "" {
		t.Error(f)
	}
}

// TestE2EChartsHaveTheReportsMedian: the median of graded trials, by nearest rank, equals
// the value in the tile above the charts, also for an even number of trials.
func TestE2EChartsHaveTheReportsMedian(t *testing.T) {
	for _, cases := range []int{1, 2, 3} {
		b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(cases)
		open(b, writtenURL(t, w.report, w.rows))
		var all []float64
		for row := range w.rows() {
			if row.Outcome == trial.Passed || row.Outcome == trial.Failed {
				all = append(all, row.Run.LatencyMS)
			}
		}
		slices.Sort(all)
		want := fmt.Sprintf("median %.2f\u00a0s, ", all[(len(all)+1)/2-1]/1000)
		equal(t, "latency", b.Texts("#spreads figure:first-child figcaption p")[0][:len(want)], want)
	}
}

func TestE2ETableIsFilteredAndSorted(t *testing.T) {
	b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(120)
	open(b, writtenURL(t, w.report, w.rows))
	equal(t, "found", b.Texts("#found"), []string{"240"})
	equal(t, "in the order of the dataset", names(b, 3), []string{"case-00001", "case-00001", "case-00002"})
	b.Eval(`document.querySelector("#by-latency button").click()`, nil)
	var slowest []string
	b.Eval(`[...document.querySelectorAll("th")].filter((th) => th.ariaSort).map((th) => th.id + " " + th.ariaSort)`, &slowest)
	equal(t, "sorted by", slowest, []string{"by-latency descending"})
	choose(b, "only-variant", "small")
	choose(b, "only-outcome", "failed a trial")
	failed := w.firstFailed("small")
	find(b, fmt.Sprintf("ORDER %d ", 1000+failed))
	equal(t, "found", b.Texts("#found"), []string{"1 of 240"})
	equal(t, "case", names(b, 9), []string{caseID(failed)})
	find(b, "no such thing")
	equal(t, "nothing", b.Texts("#lines"), []string{"No cases match."})
	b.Eval(`document.querySelector(".toolbar [type=reset]").click()`, nil)
	equal(t, "found after reset", b.Texts("#found"), []string{"240"})
	b.Eval(`document.querySelector("#pages button:last-child").click()`, nil)
	equal(t, "page", b.Texts("#pages span"), []string{"51 to 100 of 240"})
}

func TestE2EKeysMoveThroughTableAndCases(t *testing.T) {
	b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(10)
	open(b, writtenURL(t, w.report, w.rows))
	focused := func() string {
		var s string
		b.Eval(`document.activeElement.id || document.activeElement.textContent`, &s)
		return s
	}
	b.Key("/")
	equal(t, "after /", focused(), "find")
	b.Key("ArrowDown")
	b.Key("ArrowDown")
	b.Key("ArrowDown")
	equal(t, "after three times down", focused(), "case-00002")
	b.Eval(`document.activeElement.click()`, nil) // same as Enter on a link
	b.Await(`!document.getElementById("opened").hidden`)
	equal(t, "opened", b.Texts("#opened .caseid")[0][:10], "case-00002")
	equal(t, "focus", focused(), "opened")
	b.Key("n")
	b.Await(`location.hash.includes("small")`)
	b.Key("Escape")
	b.Await(`document.getElementById("opened").hidden`)
	equal(t, "focus is where it was", focused(), "case-00002")
}

func TestE2ELinksLeadToCasesAndTrials(t *testing.T) {
	b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(300)
	url := writtenURL(t, w.report, w.rows)
	open(b, url+"#case=case-00250&variant=small&trial=2")
	equal(t, "trial", b.Texts("[aria-current]"), []string{"2"})
	row := w.row(249, "small", 2)
	b.Await(fmt.Sprintf(`document.getElementById("opened").textContent.includes(%q)`, row.Run.Response))
	b.Await(fmt.Sprintf(`document.getElementById("opened").textContent.includes(%q)`, row.Run.ID))
	open(b, url)
	b.Eval(`document.querySelectorAll("#gates a")[1].click()`, nil) // case-00007 [small]
	b.Await(`!document.getElementById("opened").hidden`)
	equal(t, "case of a gate", b.Texts("#opened .caseid")[0][:10], "case-00007")
	equal(t, "its variant", b.Texts(".matrix .chosen th"), []string{"small"})
	open(b, url+"#case=nobody")
	equal(t, "no such case", b.Texts("#opened .note"), []string{"There is no such case: nobody"})
	open(b, url+"#case=case-00250&variant=large&trial=2&with=small")
	var marks []string
	b.Eval(`[...document.querySelectorAll(".beside .part")].filter((p) => p.textContent.startsWith("Answer")).map((p) => [...p.querySelectorAll("mark")].map((m) => m.textContent).join("|"))`, &marks)
	equal(t, "differences", marks, []string{"order |,|, and confirm|The change", " and|It| the house"})
}

// WCAG 2 AA requires a contrast of 4.5 to 1.
func TestE2EContrastMeetsWCAG(t *testing.T) {
	b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(30)
	url := writtenURL(t, w.report, w.rows)
	for _, scheme := range []string{"light", "dark"} {
		for _, hash := range []string{"", "#case=case-00002&variant=large&with=small"} {
			t.Run(scheme+hash, func(t *testing.T) {
				b.Scheme(scheme)
				open(b, url+hash)
				equal(t, "texts with too little contrast", b.LowContrast(), []string{})
			})
		}
	}
}

func TestE2EPictures(t *testing.T) {
	b, w := browsertest.Open(t, "file://", 1280, 900), newWorld(100)
	url := writtenURL(t, w.report, w.rows)
	for _, p := range []struct {
		name, hash    string
		width, height int
	}{
		{"report", "", 1280, 3000},
		{"report-narrow", "", 390, 1400},
		{"report-narrow-case", "#case=case-00002&variant=large&trial=3&with=small", 390, 2600},
		{"report-case", "#case=case-00007&variant=small", 1280, 1500},
		{"report-beside", "#case=case-00002&variant=large&trial=3&with=small", 1280, 1500},
	} {
		b.Size(p.width, p.height)
		open(b, url+p.hash)
		if wide := browsertest.Value[int](b, `document.documentElement.scrollWidth`); wide > p.width {
			t.Errorf("%s: the page is %d wide", p.name, wide)
		}
		clipped := browsertest.Value[bool](b, `document.getElementById("table").offsetWidth > document.getElementById("table").parentElement.clientWidth`)
		if clipped && p.width > 1000 {
			t.Errorf("%s: the table is clipped", p.name)
		}
		b.Shoot(p.name)
	}
	if f := b.Faults(); f != "" {
		t.Error(f)
	}
}
