package html_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/report/html"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// withoutOurs removes the style and script that are the same in every report.
func withoutOurs(page string) string {
	for _, tag := range []string{"style", "script"} {
		before, rest, _ := strings.Cut(page, "<"+tag+">")
		_, after, _ := strings.Cut(rest, "</"+tag+">")
		page = before + "<" + tag + ">…</" + tag + ">" + after
	}
	return page
}

func TestPageAsAWhole(t *testing.T) {
	w := newWorld(2)
	page := write(t, w.report, w.rows)
	if again := write(t, w.report, w.rows); again != page {
		t.Error("the same report gave other bytes")
	}
	page = regexp.MustCompile(`sha256-[A-Za-z0-9+/=]+'`).ReplaceAllString(page, "sha256-…'")
	goldentest.File(t, "page.html", withoutOurs(page))
}

// inline returns the contents of the elements of a kind, without data elements.
func inline(page, tag string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestPolicyAllowsOnlyOurScriptAndStyle(t *testing.T) {
	page := write(t, &report.Report{}, rowsOf())
	hash := func(tag string) string {
		parts := inline(page, tag)
		if len(parts) != 1 {
			t.Fatalf("there are %d of %s", len(parts), tag)
		}
		sum := sha256.Sum256([]byte(parts[0]))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	want := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ` + hash("style") + `; script-src ` + hash("script") +
		`; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`
	if !strings.Contains(page, want) {
		t.Errorf("the policy is not %s", want)
	}
	if strings.Index(page, want) > strings.Index(page, "<style>") {
		t.Error("the policy comes after what it is to guard")
	}
}

func TestScriptIsSmallAndCreatesNoMarkup(t *testing.T) {
	script := inline(write(t, &report.Report{}, rowsOf()), "script")[0]
	if len(script) > 44_000 {
		t.Errorf("the script has %d bytes", len(script))
	}
	for _, sink := range []string{
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser", "createContextualFragment", "setHTML",
		"srcdoc", "fetch(", "XMLHttpRequest", "WebSocket", "import(", "localStorage", "http:", "https:", `"style"`, "<!--", "<script",
	} {
		if strings.Contains(strings.ReplaceAll(script, "http://www.w3.org/2000/svg", ""), sink) {
			t.Errorf("the script has %s", sink)
		}
	}
}

func TestPageMakesNoNetworkRequests(t *testing.T) {
	w := newWorld(1)
	page := withoutOurs(write(t, w.report, w.rows))
	for _, m := range regexp.MustCompile(`(?i)\b(src|href|srcset|action|data)=("[^"]*"|[^\s>]+)`).FindAllString(page, -1) {
		if m != `href="#cases"` {
			t.Errorf("the page refers to %s", m)
		}
	}
}

func TestChunksContainRowsAndTheirIndex(t *testing.T) {
	w := newWorld(42) // 252 rows
	page := write(t, w.report, w.rows)
	trials, index := data(t, page)["trials"], data(t, page)["index"]
	var sizes []int
	for i := range trials {
		var details []struct{ Run string }
		var entries []struct {
			Case, Variant string
			Repeat        int
		}
		if err := errors.Join(json.Unmarshal(trials[i], &details), json.Unmarshal(index[i], &entries)); err != nil {
			t.Fatal(err)
		}
		if len(details) != len(entries) {
			t.Fatalf("chunk %d has %d details and %d entries", i, len(details), len(entries))
		}
		for at, e := range entries {
			n := 100*i + at
			if want := w.row(n/6, e.Variant, e.Repeat).Run.ID; e.Case != caseID(n/6) || details[at].Run != want {
				t.Fatalf("row %d: case %s, run %s, want %s of %s", n, e.Case, details[at].Run, want, caseID(n/6))
			}
		}
		sizes = append(sizes, len(entries))
	}
	if diff := cmp.Diff([]int{100, 100, 52}, sizes); diff != "" {
		t.Error(diff)
	}
}

func TestLongRowsResultInShortChunks(t *testing.T) {
	var rows []*trial.Row
	for i := range 40 {
		rows = append(rows, &trial.Row{Key: trial.Key{Case: caseID(i), Repeat: 1}, Run: trial.Run{Response: strings.Repeat("x", 60<<10)}})
	}
	var sizes []int
	for _, chunk := range data(t, write(t, &report.Report{}, rowsOf(rows...)))["index"] {
		var entries []struct{}
		if err := json.Unmarshal(chunk, &entries); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(entries))
	}
	if diff := cmp.Diff([]int{18, 18, 4}, sizes); diff != "" { // of 60 KiB each; a chunk ends at 1 MiB
		t.Error(diff)
	}
}

func TestMemoryDoesNotGrowWithRows(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	row := newWorld(1).row(0, "large", 1)
	var early, late uint64
	rows := func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for i := range 20_000 {
				switch i {
				case 2_050:
					early = heap()
				case 19_950:
					late = heap()
				}
				row.Case = caseID(i)
				if !yield(row, nil) {
					return
				}
			}
		}
	}
	if err := html.Write(io.Discard, &report.Report{}, rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("heap after 2,050 rows %d kB, after 19,950 rows %d kB", early>>10, late>>10)
	if late > early+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// full is a writer that fails after a number of bytes.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestErrorsAreReturned(t *testing.T) {
	errTorn := errors.New("rows.jsonl:7: torn")
	torn := func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) { yield(nil, errTorn) }
	}
	nan := newWorld(1).row(0, "large", 2)
	nan.Score = math.NaN()
	for _, c := range []struct {
		name string
		to   io.Writer
		r    *report.Report
		rows trial.Rows
		want string
	}{
		{"rows cannot be read", io.Discard, &report.Report{}, torn, "rows.jsonl:7: torn"},
		{"disk is full", &full{left: 200_000}, &report.Report{}, newWorld(1000).rows, "no space left"},
		{"report has no number", io.Discard, &report.Report{JudgeCost: math.Inf(1)}, rowsOf(), "html report: json: unsupported value"},
		{"case has no number", io.Discard, &report.Report{Cases: report.CasesOf(report.CaseStats{Case: exprenv.Case{ID: "c7", Score: math.NaN()}})}, rowsOf(), `cases from "c7" on`},
		{"trial has no number", io.Discard, &report.Report{}, rowsOf(nan), `trials from case "case-00001" on`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := html.Write(c.to, c.r, c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %s", err, c.want)
			}
		})
	}
}

func TestRowsStopAfterAWriteError(t *testing.T) {
	n := 0
	rows := func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for w := newWorld(1); n < 100_000 && yield(w.row(0, "large", 1), nil); n++ {
			}
		}
	}
	if err := html.Write(&full{left: 100_000}, &report.Report{}, rows); !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
	if n > 200 {
		t.Errorf("%d rows were read after the error", n)
	}
}

func TestTextsAreShownUnchanged(t *testing.T) {
	row := newWorld(1).row(0, "large", 1)
	call := &row.Run.Steps[0].ToolCalls[0]
	long := strings.Repeat("ü", 40<<10) // 80 KiB
	for _, c := range []struct {
		name   string
		args   string
		result any
		want   [2]string
	}{
		{"numbers keep their digits", `{"id":12345678901234567890,"x":1.10}`, json.RawMessage(`[1e400]`), [2]string{"{\n  \"id\": 12345678901234567890,\n  \"x\": 1.10\n}", "[\n  1e400\n]"}},
		{"text", `"a <b> & c"`, "a <b> & c", [2]string{"a <b> & c", "a <b> & c"}},
		{"markup in JSON", `{"q":"<b>&"}`, map[string]any{"html": "<b>&"}, [2]string{"{\n  \"q\": \"<b>&\"\n}", "{\n  \"html\": \"<b>&\"\n}"}},
		{"nothing", ``, nil, [2]string{"", ""}},
		{"null", `null`, json.RawMessage(`null`), [2]string{"null", "null"}},
		{"no JSON", `{"q": `, json.RawMessage(`{]`), [2]string{`{"q": `, `{]`}},
		{"what JSON cannot hold", `{}`, math.Inf(1), [2]string{"{}", "+Inf"}},
		{"too long", `{}`, long, [2]string{"{}", long[:64<<10] + "\n… 16384 more bytes are in the rows of the evaluation"}},
		{"too long, and no UTF-8", `{}`, strings.Repeat("\x80", 70<<10), [2]string{"{}", strings.Repeat("\ufffd", 64<<10) + "\n… 6144 more bytes are in the rows of the evaluation"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			call.Args, call.Result = json.RawMessage(c.args), c.result
			var details []struct {
				Steps []struct {
					Calls []struct{ Args, Result string }
				}
			}
			if err := json.Unmarshal(data(t, write(t, &report.Report{}, rowsOf(row)))["trials"][0], &details); err != nil {
				t.Fatal(err)
			}
			got := details[0].Steps[0].Calls[0]
			if diff := cmp.Diff(c.want, [2]string{got.Args, got.Result}); diff != "" || !utf8.ValidString(got.Result) {
				t.Error(diff)
			}
		})
	}
}
