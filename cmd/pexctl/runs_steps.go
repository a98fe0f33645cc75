package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// stepsText is the plan and what became of its steps, without times: two runs
// that did the same have the same text.
func stepsText(res *engine.Result) string {
	var b strings.Builder
	records := map[string]engine.StepRecord{}
	for _, rec := range res.Steps {
		records[rec.ID] = rec
	}
	for _, st := range res.Plan.Steps {
		rec, ok := records[st.ID]
		if !ok {
			rec = engine.StepRecord{ID: st.ID, Goal: st.Goal, Status: "not run"}
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

func stepText(b *strings.Builder, rec engine.StepRecord) {
	fmt.Fprintf(b, "%s [%s] %s\n", rec.ID, rec.Status, strings.Join(strings.Fields(rec.Goal), " "))
	for _, call := range rec.ToolCalls {
		fmt.Fprintf(b, "  %s %s [%s]\n", call.Tool, compacted(call.Args), call.Status)
		below(b, "    ", plainResult(call.Result))
	}
	below(b, "  ! ", rec.Error)
	below(b, "  = ", rec.Result)
}

func below(b *strings.Builder, indent, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		b.WriteString(indent + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// compacted is JSON on one line, its members in order.
func compacted(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return plainResult(v)
}

// plainResult is what a tool gave: text as it is, else JSON.
func plainResult(v any) string {
	if text, ok := v.(string); ok || v == nil {
		return text
	}
	body, err := journal.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(body)
}
