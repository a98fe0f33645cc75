package mcp_test

import (
	"context"
	"testing"
)

// BenchmarkCall measures the overhead of one call.
func BenchmarkCall(b *testing.B) {
	for _, tr := range transports {
		b.Run(tr.name, func(b *testing.B) {
			tool := find(b, tr.make(b, nil), "echo")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := call(context.Background(), tool, `{"text":"hi"}`); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
