package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
)

// Comparison is how two runs differ.
type Comparison struct {
	A, B   *engine.Result
	Same   bool
	Fields []Field        // figures that are not the same
	Steps  [2]string      // the plan and its steps as text, without times
	First  *drift.Parting // the first call that differs; nil = none does
}

// Field is a figure of two runs: a string, an int or a time.Duration.
type Field struct {
	Name string
	A, B any
}

// Compare compares two runs. How long they took is a difference only beside others.
func Compare(ctx context.Context, a, b *Run) (*Comparison, error) {
	c := &Comparison{A: a.Result(ctx), B: b.Result(ctx)}
	c.fields(a, b)
	c.Steps = [2]string{stepsText(c.A), stepsText(c.B)}
	var err error
	if c.First, err = drift.Part(a.Records, b.Records); err != nil {
		return nil, fmt.Errorf("compare runs: %w", err)
	}
	answer := func(r *engine.Result) string { return strings.TrimRight(r.Response, "\n") }
	c.Same = len(c.Fields) == 0 && c.Steps[0] == c.Steps[1] && c.First == nil && answer(c.A) == answer(c.B)
	if !c.Same {
		took := func(r *engine.Result) time.Duration { return time.Duration(r.DurationMS) * time.Millisecond }
		c.Fields = append(c.Fields, Field{"duration", took(c.A), took(c.B)})
	}
	return c, nil
}

func (c *Comparison) fields(a, b *Run) {
	ra, rb := c.A, c.B
	spec := func(s engine.SpecInfo) string { return strings.TrimSpace(s.Name + " " + s.Version) }
	for _, f := range []Field{
		{"spec", spec(ra.Spec), spec(rb.Spec)},
		{"digest", ra.Spec.Digest, rb.Spec.Digest},
		{"question", Question(a.Start.Input), Question(b.Start.Input)},
		{"status", string(ra.Status), string(rb.Status)},
		{"stop reason", string(ra.StopReason.Code), string(rb.StopReason.Code)},
		{"plan version", ra.Plan.Version, rb.Plan.Version},
		{"steps", len(ra.Steps), len(rb.Steps)},
		{"model calls", ra.Usage.ModelCalls, rb.Usage.ModelCalls},
		{"tool calls", ra.Usage.ToolCalls, rb.Usage.ToolCalls},
		{"input tokens", ra.Usage.Input, rb.Usage.Input},
		{"output tokens", ra.Usage.Output, rb.Usage.Output},
		{"cost", dollars(ra.Usage.CostUSD), dollars(rb.Usage.CostUSD)},
	} {
		if f.A != f.B {
			c.Fields = append(c.Fields, f)
		}
	}
}

func dollars(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.4f", usd)
}

// stepsText is the plan and the outcome of its steps, without times: two runs
// that did the same have the same text.
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
	for _, rec := range res.Steps { // no longer of the plan
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

// compact is JSON on one line, its members in order.
func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return plainText(v)
}

// plainText is the result of a tool: text as it is, else JSON.
func plainText(v any) string {
	if s, ok := v.(string); ok || v == nil {
		return s
	}
	body, err := text.JSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(body)
}
