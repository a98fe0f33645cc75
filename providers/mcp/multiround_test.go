package mcp_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
)

// A server that talks an earlier protocol asks one by one, in an order of its own.
func TestQuestionsOfOneRoundComeInOrder(t *testing.T) {
	one := bound(t, child(t, "plain", nil), "ask_much")
	for range 5 { // six in order by chance are one in 720
		var heard []string
		out, err := one.Call(context.Background(), &tool.Call{
			Args: []byte(`{"text":""}`),
			Ask: func(_ context.Context, q interrupt.Question) (interrupt.Decision, error) {
				heard = append(heard, q.Question)
				return interrupt.Decision{Do: "approve"}, nil
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
