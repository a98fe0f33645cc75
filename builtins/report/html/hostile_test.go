package html_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/report/html"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

func write(t testing.TB, r *report.Report, rows trial.Rows) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, r, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// anyTag matches everything that a parser could take for the start of markup.
var anyTag = regexp.MustCompile(`<[^>]*>?`)

// data returns the contents of the JSON elements, by class.
func data(t testing.TB, page string) map[string][]json.RawMessage {
	t.Helper()
	out := map[string][]json.RawMessage{}
	for _, rest := range strings.Split(page, `<script type="application/json" class="`)[1:] {
		class, rest, _ := strings.Cut(rest, `">`)
		text, _, ended := strings.Cut(rest, "<")
		if !ended || !json.Valid([]byte(text)) {
			t.Fatalf("%s is no JSON: %s", class, text)
		}
		out[class] = append(out[class], json.RawMessage(text))
	}
	return out
}

// harmless returns the markup of a page without hostile texts.
var harmless = sync.OnceValue(func() []string {
	var b bytes.Buffer
	r, row := poisoned("harmless")
	if err := html.Write(&b, r, rowsOf(row)); err != nil {
		panic(err)
	}
	return anyTag.FindAllString(withoutOurs(b.String()), -1)
})

// sameTags checks that a page with the payload has the same markup as a harmless one.
func sameTags(t testing.TB, payload string) string {
	t.Helper()
	r, row := poisoned(payload)
	page := withoutOurs(write(t, r, rowsOf(row)))
	if diff := cmp.Diff(harmless(), anyTag.FindAllString(page, -1)); diff != "" {
		t.Fatalf("%q made markup:\n%s", payload, diff)
	}
	return page
}

func TestHostileTextIsOnlyData(t *testing.T) {
	all := payloads()
	if len(all) < 80 {
		t.Fatalf("only %d payloads", len(all))
	}
	for i, p := range all {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			page := sameTags(t, p)
			if strings.ContainsAny(page, "\u2028\u2029\x00") {
				t.Errorf("%q: the page contains an unescaped separator or NUL", p)
			}
			for class, texts := range data(t, page) {
				for _, text := range texts {
					if bytes.ContainsAny(text, "<>&") {
						t.Errorf("%q: %s contains <, > or & unescaped", p, class)
					}
				}
			}
		})
	}
}

// Texts are shown completely: nothing is removed for safety.
func TestHostileTextArrivesUnchanged(t *testing.T) {
	for i, p := range payloads() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r, row := poisoned(p)
			page := write(t, r, rowsOf(row))
			var details []struct {
				Response string `json:"response"`
				Error    string `json:"error"`
				Marks    []struct{ Message, Diff string }
				Steps    []struct {
					Goal  string
					Calls []struct{ Tool, Args, Result string }
				}
			}
			if err := json.Unmarshal(data(t, page)["trials"][0], &details); err != nil {
				t.Fatal(err)
			}
			d, want := details[0], asText(p)
			for what, got := range map[string]string{
				"response": d.Response, "error": d.Error, "message": d.Marks[0].Message, "diff": d.Marks[0].Diff,
				"goal": d.Steps[0].Goal, "goal of a step that did not run": d.Steps[1].Goal, "tool": d.Steps[0].Calls[0].Tool,
			} {
				if got != want {
					t.Errorf("%s is %q, want %q", what, got, want)
				}
			}
			var args map[string]string
			if err := json.Unmarshal([]byte(d.Steps[0].Calls[0].Args), &args); err != nil || args[want] != want {
				t.Errorf("arguments are %s (%v)", d.Steps[0].Calls[0].Args, err)
			}
		})
	}
}

func FuzzNoTextMakesMarkup(f *testing.F) {
	for _, p := range payloads() {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) { sameTags(t, p) })
}
