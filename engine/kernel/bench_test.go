package kernel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// BenchmarkEffect is the cost of one effect in memory.
func BenchmarkEffect(b *testing.B) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprint("e", i)
	}
	value := &struct{ N int }{1}
	b.ReportAllocs()
	for b.Loop() {
		_, err := kernel.Run(context.Background(), kernel.Options{RunID: "r", Journal: &journal.Memory{}}, func(s *kernel.Scope, _ []byte) error {
			for i := range names {
				if _, err := kernel.Do(s, kernel.Effect[*struct{ N int }]{
					Name: names[i], Class: journal.Read,
					Perform: func(context.Context, string) (*struct{ N int }, error) { return value, nil },
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/effect")
}
