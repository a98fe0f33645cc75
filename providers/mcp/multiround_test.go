package mcp_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
)

// Servers of earlier protocol versions ask one question at a time, in their own order.
func TestQuestionsOfOneRoundAreSorted(t *testing.T) {
	one := find(t, child(t, "plain", nil), "ask_much")
	for range 5 { // the chance of the right order by accident is 1 in 720 each time
		var questions []string
		out, err := one.Call(context.Background(), &tool.Call{
			Args: []byte(`{"text":""}`),
			Ask: func(_ context.Context, q interrupt.Question) (interrupt.Decision, error) {
				questions = append(questions, q.Question)
				return interrupt.Decision{Do: "approve"}, nil
			},
		})
		if err != nil || out.Text != "6 answers, done" {
			t.Fatalf("output %v, error %v", out, err)
		}
		if want := []string{"a?", "b?", "c?", "d?", "e?", "f?"}; !slices.Equal(questions, want) {
			t.Fatalf("asked %q, want %q", questions, want)
		}
	}
}
