package mcp_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine"
)

// A server that talks an earlier protocol asks one by one, in an order of its own.
func TestQuestionsOfOneRoundComeInOrder(t *testing.T) {
	tool := bound(t, child(t, "plain", nil), "ask_much")
	for range 5 { // six in order by chance are one in 720
		var heard []string
		out, err := tool.Call(context.Background(), &engine.Call{
			Args: []byte(`{"text":""}`),
			Ask: func(_ context.Context, q engine.Question) (engine.Decision, error) {
				heard = append(heard, q.Question)
				return engine.Decision{Do: "approve"}, nil
			},
		})
		if err != nil || out.Text != "6 answers, kept" {
			t.Fatalf("output %v, error %v", out, err)
		}
		if want := []string{"a?", "b?", "c?", "d?", "e?", "f?"}; !slices.Equal(heard, want) {
			t.Fatalf("asked %q, want %q", heard, want)
		}
	}
}
