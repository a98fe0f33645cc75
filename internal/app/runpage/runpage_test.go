package runpage_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/runpage"
)

var startTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// refund returns a run in which a human changed the arguments of a call.
func refund() *runview.View {
	return &runview.View{
		Run: "r-1", Spec: engine.SpecInfo{Name: "desk", Version: "2", Digest: "sha256:0"}, Question: "Refund order 17?", Status: "completed",
		Stop: stop.Reason{Code: stop.Answered}, StartedAt: startTime, DurationMS: 2500, Answer: "Done.",
		Usage: engine.Usage{ModelCalls: 2, ToolCalls: 1, Tokens: model.Tokens{Input: 1200, Output: 34}, CostUSD: 0.006, ByModel: map[string]engine.ModelUsage{"main": {ModelCalls: 2, CostUSD: 0.006}}},
		Groups: []runview.Group{
			{Path: "plan.1", Role: "planner", ToMS: 500, ModelCalls: 1, Tokens: 600, CostUSD: 0.004, Items: []runview.Item{
				{ID: "c1", Kind: runview.ModelItem, Name: "main", Role: "planner", ToMS: 500, Done: true, Text: "a plan", Tokens: model.Tokens{Input: 590, Output: 10}, CostUSD: 0.004, Prompt: &runview.Prompt{
					Messages: []runview.Message{{Role: "system", Segments: []string{"You plan.", "today"}}, {Role: "user", Segments: []string{"Refund order 17?"}}}, Tools: []string{"refund"},
				}},
				{ID: "c2", Kind: runview.PlanItem, Name: "plan v1", FromMS: 500, ToMS: 500, Done: true, Steps: []engine.StepEvent{{ID: "s1", Goal: "Refund it"}}},
			}},
			{Path: "step.s1", Step: "s1", Goal: "Refund it", Status: "ok", Attempts: 2, Result: "refunded", FromMS: 500, ToMS: 2500, ToolCalls: 1, Items: []runview.Item{
				{ID: "c3", Kind: runview.ToolItem, Name: "refund", FromMS: 900, ToMS: 2000, Done: true, Status: "ok", Text: "paid 10", Args: json.RawMessage(`{"amount":10}`), Original: json.RawMessage(`{"amount":80}`)},
				{ID: "c4", Kind: runview.ModelItem, Name: "main", Role: "executor", FromMS: 2000, ToMS: 2500, Failed: true, Done: true, Status: "error", Text: "HTTP 500"},
			}},
		},
		Decisions: []engine.DecisionRecord{{
			At: startTime, By: &engine.Actor{User: "ann", Host: "desk"}, Path: "step.s1/turn.1/tool.0.approval", Kind: "approval", Tool: "refund",
			Args: json.RawMessage(`{"amount":80}`), Question: "May step s1 call refund?", Do: "edit", Edit: json.RawMessage(`{"amount":10}`),
		}},
		Messages: []engine.UserMessage{{ID: "m-1", Text: "Refund only 10.", By: &engine.Actor{User: "bob", Issuer: "tokens"}, At: startTime}},
		Open:     []interrupt.Question{{Path: "ask/ask", Kind: interrupt.Human, Question: "Send it?"}},
		Warnings: []string{"a reply was repaired"},
	}
}

func write(t *testing.T, v *runview.View) string {
	t.Helper()
	var b strings.Builder
	if err := runpage.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageShowsTheRun(t *testing.T) {
	page := write(t, refund())
	for _, want := range []string{
		"Refund order 17?", "<strong>completed</strong> <span>answered</span>", "$0.0060", "$0.0040", "1.2k", "ann@desk, 2026-01-02 15:04:05 UTC",
		"Original arguments", "Changed to", "&#34;amount&#34;: 80", "edited by a human", `<span class="seg">You plan.</span><span class="seg">today</span>`,
		`href="#c3"`, `id="c3"`, "HTTP 500", "2 attempts", "Waiting for an answer", "Send it?", "a reply was repaired", "sha256:0", "Refund only 10.", "by bob, 2026-01-02", "not seen by a model",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if again := write(t, refund()); again != page {
		t.Error("the same view gives another page")
	}
}

// The page requests nothing, runs nothing and permits nothing.
func TestPageIsSelfContained(t *testing.T) {
	page := write(t, refund())
	for _, never := range []string{"<script", "javascript:", " style=", " src=", "url(", "@import", "http://", "https://"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if !strings.Contains(page, `default-src &#39;none&#39;; style-src &#39;sha256-`) {
		t.Error("no content security policy")
	}
}

var tag = regexp.MustCompile(`<[a-zA-Z/!][^>]*`)

// names returns the elements of a page with the names of their attributes.
func names(page string) []string {
	var out []string
	for _, m := range tag.FindAllString(page, -1) {
		out = append(out, regexp.MustCompile(`"[^"]*"`).ReplaceAllString(m, `""`))
	}
	return out
}

// The page has the same elements and attributes for all texts.
func TestHostileTextsAreInert(t *testing.T) {
	plain := names(write(t, poisoned("x")))
	for _, p := range []string{
		`</pre><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title><svg onload=alert(1)>`,
		`--><!-- `, `{{.Run}}`, `javascript:alert(1)`, `</style><style>*{display:none}`,
	} {
		if d := cmp.Diff(plain, names(write(t, poisoned(p)))); d != "" {
			t.Errorf("%s: %s", p, d)
		}
	}
}

func TestInvisibleCharactersAreEscaped(t *testing.T) {
	page := write(t, poisoned("a\u202eb\x1b[2Jc\u200b\U000E0041"))
	if strings.ContainsAny(page, "\u202e\x1b\u200b\U000E0041") {
		t.Error("the page contains invisible characters")
	}
	if !strings.Contains(page, `a\u{202E}b`) {
		t.Error("the invisible characters are not escaped")
	}
}

func TestLongTextsAreTruncated(t *testing.T) {
	v := refund()
	v.Groups[1].Items[0].Text = strings.Repeat("é", runpage.MaxText)
	page := write(t, v)
	if len(page) > 3*runpage.MaxText || !strings.Contains(page, "65536 bytes more in the journal of the run") {
		t.Errorf("%d bytes", len(page))
	}
}

// poisoned returns a view in which every text is p.
func poisoned(p string) *runview.View {
	v := refund()
	poison(reflect.ValueOf(v).Elem(), p)
	v.Graph = ""
	return v
}

func poison(v reflect.Value, p string) {
	switch at := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*at, _ = json.Marshal(map[string]string{"k": p})
		return
	case *time.Time, *runview.ItemKind, **interrupt.Rule:
		return
	}
	switch v.Kind() { //nolint:exhaustive // the kinds that hold texts
	case reflect.String:
		v.SetString(p)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "ID" || v.Type() != reflect.TypeFor[runview.Item]() {
				poison(v.Field(i), p)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			poison(v.Index(i), p)
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		poison(v.Elem(), p)
	case reflect.Map:
		e := reflect.New(v.Type().Elem()).Elem()
		poison(e, p)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(p), e)
	}
}
