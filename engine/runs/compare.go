package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
)

// Comparison is the differences between two runs.
type Comparison struct {
	A       string         `json:"a"` // run ids
	B       string         `json:"b"`
	Same    bool           `json:"same"`
	Fields  []Field        `json:"fields"`
	Prompts []PromptChange `json:"prompts,omitempty"` // prompt templates that differ
	Steps   string         `json:"steps,omitempty"`   // diff of plan and steps
	First   *Divergence    `json:"first,omitempty"`   // the first call that differs
	Answer  string         `json:"answer,omitempty"`
}

// Field is a property in which two runs differ.
type Field struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Divergence is the first model or tool call that differs.
type Divergence struct {
	Path  string      `json:"path"`
	Class drift.Class `json:"class"`
	Diffs []Diff      `json:"diffs"`
}

// Diff is one difference between two calls.
type Diff struct {
	Class drift.Class `json:"class"`
	What  string      `json:"what"`
	Diff  string      `json:"diff"`
}

// Formatter formats the texts of a Comparison.
type Formatter struct {
	Diff     func(nameA, a, nameB, b string) string // returns "" for equal texts
	Duration func(time.Duration) string
}

// Compare compares two runs. Runs that differ only in duration count as the same.
func Compare(ctx context.Context, a, b *Run, t Formatter) (*Comparison, error) {
	ra, rb := a.Result(ctx), b.Result(ctx)
	c := &Comparison{A: ra.RunID, B: rb.RunID, Fields: fields(a, b, ra, rb)}
	c.Prompts = promptChanges(a, b, t)
	c.Steps = t.Diff(c.A, stepsText(ra), c.B, stepsText(rb))
	c.Answer = t.Diff(c.A, line(ra.Response), c.B, line(rb.Response))
	at, err := drift.FirstDivergence(a.Records, b.Records)
	if err != nil {
		return nil, fmt.Errorf("compare runs: %w", err)
	}
	if at != nil {
		c.First = &Divergence{Path: at.Path, Class: at.Class}
		for _, x := range at.Differences {
			c.First.Diffs = append(c.First.Diffs, Diff{x.Class, x.What, t.Diff(c.A, x.Before, c.B, x.After)})
		}
	}
	c.Same = len(c.Fields) == 0 && len(c.Prompts) == 0 && c.Steps == "" && c.Answer == "" && c.First == nil
	if !c.Same {
		took := func(r *engine.Result) string { return t.Duration(time.Duration(r.DurationMS) * time.Millisecond) }
		c.Fields = append(c.Fields, Field{"duration", took(ra), took(rb)})
	}
	return c, nil
}

// fields returns the properties in which two runs differ.
func fields(a, b *Run, ra, rb *engine.Result) []Field {
	figures := func(r *Run, res *engine.Result) []string {
		u := res.Usage
		return []string{
			strings.TrimSpace(res.Spec.Name + " " + res.Spec.Version), res.Spec.Digest, Question(r.Start.Input), messageTexts(res),
			string(res.Status), string(res.StopReason.Code), strconv.Itoa(res.Plan.Version), strconv.Itoa(len(res.Steps)),
			strconv.Itoa(u.ModelCalls), strconv.Itoa(u.ToolCalls), strconv.Itoa(u.Input), strconv.Itoa(u.Output), dollars(u.CostUSD),
		}
	}
	names := []string{
		"spec", "digest", "question", "messages", "status", "stop reason", "plan version", "steps",
		"model calls", "tool calls", "input tokens", "output tokens", "cost",
	}
	out, fa, fb := []Field{}, figures(a, ra), figures(b, rb)
	for i, name := range names {
		if fa[i] != fb[i] {
			out = append(out, Field{name, fa[i], fb[i]})
		}
	}
	return out
}

// messageTexts returns the texts of the messages to a run, on one line.
func messageTexts(res *engine.Result) string {
	var texts []string
	for _, m := range res.Messages {
		texts = append(texts, strings.Join(strings.Fields(m.Text), " "))
	}
	return strings.Join(texts, " / ")
}

// line returns s with exactly one newline at its end; "" stays "".
func line(s string) string {
	if s == "" {
		return ""
	}
	return strings.TrimRight(s, "\n") + "\n"
}

func dollars(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.4f", usd)
}

// stepsText returns the plan and the outcomes of its steps as text. It contains no
// times, so equal runs have equal texts.
func stepsText(res *engine.Result) string {
	var b strings.Builder
	records := map[string]plan.StepRecord{}
	for _, rec := range res.Steps {
		records[rec.ID] = rec
	}
	for _, st := range res.Plan.Steps {
		rec, ok := records[st.ID]
		if !ok {
			rec = plan.StepRecord{ID: st.ID, Goal: st.Goal, Status: "not run"}
		}
		stepText(&b, rec)
		delete(records, st.ID)
	}
	for _, rec := range res.Steps { // no longer in the plan
		if _, left := records[rec.ID]; left {
			stepText(&b, rec)
		}
	}
	return b.String()
}

func stepText(b *strings.Builder, rec plan.StepRecord) {
	fmt.Fprintf(b, "%s [%s] %s\n", rec.ID, rec.Status, text.OneLine(rec.Goal))
	for _, call := range rec.ToolCalls {
		fmt.Fprintf(b, "  %s %s [%s]\n", call.Tool, compact(call.Args), call.Status)
		indent(b, "    ", plainText(call.Result))
	}
	indent(b, "  ! ", rec.Error)
	indent(b, "  = ", rec.Result)
}

func indent(b *strings.Builder, indent, s string) {
	if s == "" {
		return
	}
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		b.WriteString(indent + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// compact returns JSON on one line with sorted keys.
func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return plainText(v)
}

// plainText returns the result of a tool as text: a string unchanged, anything else as
// JSON.
func plainText(v any) string {
	if s, ok := v.(string); ok || v == nil {
		return s
	}
	body, err := jsonvalue.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(body)
}
