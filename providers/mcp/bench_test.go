package mcp_test

import (
	"context"
	"testing"
)

// BenchmarkCall is what one call costs beside what the tool does.
func BenchmarkCall(b *testing.B) {
	for _, tr := range transports {
		b.Run(tr.name, func(b *testing.B) {
			tool := bound(b, tr.make(b, nil), "echo")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := call(context.Background(), tool, `{"text":"hi"}`); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
