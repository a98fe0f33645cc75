package report_test

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/builtins/tty/ttytest"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// payloads are texts that try to be interpreted.
var payloads = []string{
	"\x1b[2J\x1b]0;owned\a\x9b31m", "]]>", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!-- ", "</details></table>",
	"`", "``` \n```\n# heading", "a`b``c```", "|", `\|`, `\\|`, "a|b\\", "| --- |", "line\n\n- list\n\n<b>bold</b>", "@everyone", "@octocat please merge #1", "\n@dependabot merge\n/lgtm\n",
	"[link](https://evil.example)", "https://evil.example", "www.evil.example", "mail@evil.example", "$x$", "$$\\frac{1}{0}$$", "&lt;b&gt;", "*bold* _it_ ~~no~~",
	"=HYPERLINK(\"https://evil.example\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", " =1+1", "＝1", "\"quoted\",\"cell\"", "a,b;c",
	"::error::owned", "\n::add-mask::x", "##[error]x", "%0A::error::x", "a:b,c=d", "\u202egnp.exe\u2066", "\u200b\ufeff", "\x00\x01\ufffe\uffff", "\xff\xfe", "a\r\nb\rc", "\U000e0041",
	"{{ 1+1 }}", "${case.id}", strings.Repeat("very long ", 300), strings.Repeat("x", 3000), "日本語 ✅ é́", "", " ",
}

// evil returns a report and results in which every text is a payload.
func evil(text string) (*report.Report, []trial.Row, *report.TestReport) {
	r, rows := synthetic()
	m := &r.Manifest
	m.Suite, m.File, m.Dataset, m.ID, m.Commit = text, text, text, text, text
	m.Variants[0].Name, m.Checks[0].Name = text, text
	for i := range rows {
		x := &rows[i]
		x.Case, x.Group, x.Tags, x.Run.Response, x.Run.ID = text+fmt.Sprint(x.Line), text, []string{text}, text, text
		if x.Variant == "small" {
			x.Variant = text
		}
		for j := range x.Marks {
			k := &x.Marks[j]
			k.Check, k.Type, k.Expected, k.Actual, k.Message, k.Diff, k.Error = text, text, text, text, text, text, text
		}
		if x.Fault != nil {
			x.Fault.Message = text
		}
	}
	cases := r.Cases.Slice(0, r.Cases.Len())
	for i := range cases {
		c := &cases[i]
		c.ID, c.Group, c.Why, c.Check = text+fmt.Sprint(c.Line), text, text, text
		if c.Variant == "small" {
			c.Variant = text
		}
	}
	r.Cases = report.CasesOf(cases...)
	r.Reason, r.Errors[0].Example, r.Errors[0].Kind, r.FlakyCases, r.Quarantined, r.Warnings = text, text, trial.ErrorKind(text), []string{text, text}, []string{text}, []string{text}
	for i := range r.Gates {
		g := &r.Gates[i]
		g.Name, g.Expr, g.Got, g.File, g.Cases = text, text+"x", text, text, []string{text}
	}
	r.Gates[2].Error = text
	c := r.Comparison
	c.Ref, c.Commit, c.Test, c.Added, c.Removed, c.Verdict = text, text, text, []string{text}, []string{text}, text
	for i := range c.Changes {
		c.Changes[i].Case, c.Changes[i].Variant = text, text
	}
	r.Stats.ByGroup = map[string]exprenv.GroupStats{text: {N: 1, Trials: 1}}
	r.Stats.ByVariant[text] = r.Stats.ByVariant["small"]
	r.Stats.ByCheck[text] = exprenv.GroupStats{N: 1, Trials: 1}
	results := tests()
	results.Unused = []string{text}
	for i := range results.Cases {
		x := &results.Cases[i]
		x.Name, x.File = text, text
		for j := range x.Problems {
			p := &x.Problems[j]
			p.Where, p.File, p.Message, p.Expected, p.Actual, p.Diff = text, text, text, text, text, text
			if j == 1 {
				p.Diff = ""
			}
		}
	}
	return r, rows, results
}

// eachPayload runs f with every payload as a subtest.
func eachPayload(t *testing.T, f func(t *testing.T, text string)) {
	t.Helper()
	for i, text := range payloads {
		t.Run(fmt.Sprintf("%d %.12q", i, text), func(t *testing.T) { f(t, text) })
	}
}

func TestHostileTextCannotControlATerminal(t *testing.T) {
	eachPayload(t, func(t *testing.T, text string) {
		r, rows, _ := evil(text)
		for _, columns := range []int{40, 80, 200} {
			got := render(t, "table", formats.Settings{Columns: columns}, r, rows)
			if got != tty.Safe(got) {
				t.Errorf("not safe: %q", got)
			}
			for line := range strings.Lines(got) {
				if w := tty.Width(strings.TrimSuffix(line, "\n")); w > columns {
					t.Errorf("%d columns of %d: %q", w, columns, line)
				}
			}
		}
		screen := ttytest.New(t, 80, 500) // fails on unexpected control sequences
		fmt.Fprint(screen, render(t, "table", formats.Settings{Columns: 80, Color: true}, r, rows))
	})
}

// TestNoFormatWritesEscapeSequences covers all listed formats, including those without
// tests of their own.
func TestNoFormatWritesEscapeSequences(t *testing.T) {
	eachPayload(t, func(t *testing.T, text string) {
		r, rows, _ := evil(text)
		for _, typ := range formats.All().Types() {
			if got := render(t, typ, formats.Settings{}, r, rows); strings.ContainsAny(got, "\x00\a\x1b") {
				t.Errorf("%s holds control characters of a text", typ)
			}
		}
	})
}

func TestHostileTextStaysJSON(t *testing.T) {
	eachPayload(t, func(t *testing.T, text string) {
		r, rows, results := evil(text)
		var back struct {
			Reason string
			Cases  []struct{ ID string }
		}
		if err := json.Unmarshal([]byte(render(t, "json", formats.Settings{}, r, rows)), &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); back.Reason != want && text != "\xff\xfe" && !strings.Contains(text, "\x9b") || len(back.Cases) != r.Cases.Len() {
			t.Errorf("came back as %q", back.Reason)
		}
		lines := strings.Split(strings.TrimSuffix(render(t, "jsonl", formats.Settings{}, r, rows), "\n"), "\n")
		if len(lines) != len(rows) {
			t.Errorf("%d lines of %d trials", len(lines), len(rows))
		}
		for _, line := range lines {
			var x trial.Row
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
		}
		if !json.Valid([]byte(renderTests(t, "json", formats.Settings{}, results))) {
			t.Error("results of tests are no JSON")
		}
	})
}

func TestHostileTextIsNeverAFormula(t *testing.T) {
	eachPayload(t, func(t *testing.T, text string) {
		r, rows, _ := evil(text)
		sheet, err := csv.NewReader(strings.NewReader(render(t, "csv", formats.Settings{}, r, rows))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(sheet) != len(rows)+1 {
			t.Errorf("%d lines for %d trials", len(sheet), len(rows))
		}
		for _, line := range sheet {
			for _, cell := range line {
				if t2 := strings.TrimSpace(cell); t2 != "" && strings.ContainsAny(t2[:1], "=+-@") || strings.HasPrefix(t2, "＝") {
					t.Errorf("a formula: %.60q", cell)
				}
			}
		}
	})
}

// withoutCode removes inline code from a page.
func withoutCode(t *testing.T, page string) string {
	t.Helper()
	var out []string
	fence := ""
	for line := range strings.Lines(page) {
		ticks := regexp.MustCompile("^`{3,}").FindString(line)
		switch {
		case fence != "" && ticks == fence && strings.TrimSpace(line) == fence:
			fence = ""
		case fence != "":
		case ticks != "":
			fence = ticks
		default:
			out = append(out, withoutSpans(t, line))
		}
	}
	if fence != "" {
		t.Errorf("a block is not closed:\n%s", page)
	}
	return strings.Join(out, "")
}

func withoutSpans(t *testing.T, line string) string {
	t.Helper()
	out, runs := "", regexp.MustCompile("(\\\\)?`+").FindAllStringIndex(line, -1)
	at := 0
	for i := 0; i < len(runs); i++ {
		open := line[runs[i][0]:runs[i][1]]
		if strings.HasPrefix(open, `\`) {
			continue // escaped
		}
		end := -1
		for j := i + 1; j < len(runs) && end < 0; j++ {
			if strings.TrimPrefix(line[runs[j][0]:runs[j][1]], `\`) == open {
				end = j
			}
		}
		if end < 0 {
			t.Errorf("code that is never closed: %q", line)
			return out
		}
		out += line[at:runs[i][0]] + "C"
		at, i = runs[end][1], end
	}
	return out + line[at:]
}

// ourTags matches the only HTML tags that a page contains.
var ourTags = regexp.MustCompile(`</?(details|summary|code|sub|span)>`)

// bars matches the bars that end the cells of a row.
var bars = regexp.MustCompile(`(^|[^\\])\|`)

func TestHostileTextIsNeverMarkdown(t *testing.T) {
	eachPayload(t, func(t *testing.T, text string) {
		r, rows, results := evil(text)
		var diff strings.Builder
		if err := build(t, "markdown", formats.Settings{}).(formats.Diffs).WriteDiff(&diff, &formats.Diff{Before: r, After: r, Comparison: r.Comparison}); err != nil {
			t.Fatal(err)
		}
		for _, page := range []string{
			render(t, "markdown", formats.Settings{}, r, rows), renderTests(t, "markdown", formats.Settings{}, results), diff.String(),
		} {
			checkPage(t, page)
		}
	})
}

func checkPage(t *testing.T, page string) {
	t.Helper()
	rest := withoutCode(t, page)
	for _, tag := range []string{"details", "summary"} {
		if strings.Count(rest, "<"+tag+">") != strings.Count(rest, "</"+tag+">") {
			t.Errorf("%s is not closed:\n%s", tag, rest)
		}
	}
	text := regexp.MustCompile(`(?s)<code>.*?</code>`).ReplaceAllString(rest, "C") // HTML code, escaped
	text = strings.ReplaceAll(text, "<span>$</span>", "D")
	text = ourTags.ReplaceAllString(text, "")
	if found := regexp.MustCompile(`<[a-zA-Z/!]|@[a-zA-Z]|#[0-9]+\b|://|www\.|\$|(^|[^\\])\]\(`).FindString(strings.ReplaceAll(text, "&#8203;", "\u200b")); found != "" {
		t.Errorf("%q stands outside of code:\n%s", found, text)
	}
	columns := 0
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| ") {
			columns = 0
			continue
		}
		n := len(bars.FindAllString(strings.TrimSpace(line), -1))
		if columns > 0 && n != columns {
			t.Errorf("a row of %d cells in a table of %d: %q", n-1, columns-1, line)
		}
		columns = n
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "/") || strings.HasPrefix(line, "@") && !strings.HasPrefix(line, "@@ ") {
			t.Errorf("a robot would obey: %q", line)
		}
	}
	if page != tty.Safe(page) {
		t.Errorf("control characters: %q", page)
	}
}

func TestHostileTextStaysXML(t *testing.T) {
	eachPayload(t, func(t *testing.T, text string) {
		r, rows, results := evil(text)
		for _, s := range []formats.Settings{{}, {Locations: true}} {
			checkJUnit(t, render(t, "junit", s, r, rows), s.Locations)
			checkJUnit(t, renderTests(t, "junit", s, results), s.Locations)
		}
	})
}

func TestTextSurvivesXMLRoundTrip(t *testing.T) {
	r, rows, _ := evil("a]]>b & <c> \x1b[1m\ufffe`")
	var back struct {
		Suites []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Text string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(render(t, "junit", formats.Settings{}, r, rows)), &back); err != nil {
		t.Fatal(err)
	}
	c := back.Suites[0].Cases[2]
	if want := "a]]>b & <c> ␛[1m\ufffd`2"; !strings.HasPrefix(c.Name, want) {
		t.Errorf("name %q", c.Name)
	}
	if want := "expected: a]]>b & <c> ␛[1m\ufffd`\n"; !strings.Contains(c.Failure.Text, want) {
		t.Errorf("text %q", c.Failure.Text)
	}
}

var command = regexp.MustCompile(`^::(error|warning) ((file=[^,:]*,)?(line=[0-9]+,)?title=[^,:]*)::(.*)$`)

func TestHostileTextIsNeverACommand(t *testing.T) {
	eachPayload(t, func(t *testing.T, text string) {
		r, rows, results := evil(text)
		for _, got := range []string{render(t, "github", formats.Settings{}, r, rows), renderTests(t, "github", formats.Settings{}, results)} {
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) > 10 {
				t.Errorf("%d commands", len(lines))
			}
			for _, line := range lines {
				if !command.MatchString(line) {
					t.Errorf("unexpected command: %q", line)
				}
				if strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) >= 0 {
					t.Errorf("control characters: %q", line)
				}
			}
		}
	})
}
