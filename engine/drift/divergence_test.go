package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
)

// recording returns the records of calls, given as pairs of a path and a request: a tool
// call if it starts with a brace, else the text of a model's message.
func recording(t *testing.T, calls ...string) []journal.Record {
	t.Helper()
	var segments journal.Segments
	recs := []journal.Record{{Seq: 1, Kind: journal.Start, Path: "r-1"}}
	for i := 0; i < len(calls); i += 2 {
		rec := journal.Record{Kind: journal.Intent, Class: journal.Read, Path: calls[i], Body: []byte(calls[i+1])}
		if calls[i+1][0] != '{' {
			body, err := segments.Encode(request([]journal.Message{message(user, calls[i+1])}))
			if err != nil {
				t.Fatal(err)
			}
			rec.Body = body
		}
		rec.Seq = uint64(len(recs) + 1)
		recs = append(recs, rec)
	}
	return recs
}

func TestFirstDivergence(t *testing.T) {
	const one, two = `{"tool":"t","args":{"n":1}}`, `{"tool":"t","args":{"n":2}}`
	tests := []struct {
		name string
		a, b []string
		want *drift.Divergence
	}{
		{"the same", []string{"plan", "go", "tool", one}, []string{"plan", "go", "tool", one}, nil},
		{"nothing at all", nil, nil, nil},
		{
			"a prompt, before anything else",
			[]string{"plan", "go", "tool", one},
			[]string{"plan", "stay", "tool", two},
			&drift.Divergence{Path: "plan", Class: drift.Prompt, Differences: []drift.Difference{{Class: drift.Prompt, What: "messages", Before: "[user]\ngo\n", After: "[user]\nstay\n"}}},
		},
		{
			"arguments",
			[]string{"plan", "go", "tool", one},
			[]string{"plan", "go", "tool", two},
			&drift.Divergence{Path: "tool", Class: drift.Arguments, Differences: []drift.Difference{{Class: drift.Arguments, What: "arguments", Before: "{\n  \"n\": 1\n}\n", After: "{\n  \"n\": 2\n}\n"}}},
		},
		{
			"a call that is missing",
			[]string{"plan", "go", "more", "on"},
			[]string{"plan", "go"},
			&drift.Divergence{Path: "more", Class: drift.Missing, Differences: []drift.Difference{{Class: drift.Missing, What: "call", Before: "[user]\non\n"}}},
		},
		{
			"a call that is extra, before one that differs",
			[]string{"plan", "go", "tool", one},
			[]string{"plan", "go", "more", "on", "tool", two},
			&drift.Divergence{Path: "more", Class: drift.Extra, Differences: []drift.Difference{{Class: drift.Extra, What: "call", After: "[user]\non\n"}}},
		},
		{
			"only a call that is extra",
			[]string{"plan", "go"},
			[]string{"plan", "go", "more", "on"},
			&drift.Divergence{Path: "more", Class: drift.Extra, Differences: []drift.Difference{{Class: drift.Extra, What: "call", After: "[user]\non\n"}}},
		},
		{
			"only the order",
			[]string{"plan", "go", "x", one, "y", two},
			[]string{"plan", "go", "y", two, "x", one},
			&drift.Divergence{Path: "y", Class: drift.Order, Differences: []drift.Difference{{Class: drift.Order, What: "order of calls", Before: "x\ny\n", After: "y\nx\n"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := drift.FirstDivergence(recording(t, tt.a...), recording(t, tt.b...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFirstDivergenceOfADamagedRequestIsAnError(t *testing.T) {
	recs := recording(t, "plan", "go")
	recs[1].Body = []byte(`{"messages":[{"ref":9}]}`)
	if at, err := drift.FirstDivergence(recs, recs); err == nil {
		t.Errorf("no error, but %v", at)
	}
}
