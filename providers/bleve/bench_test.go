package bleve_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tool"
)

// corpus writes 1,000 files of 10 kB each. Word frequencies resemble a language: few words are common, most are rare.
func corpus(b *testing.B) string {
	dir, rng := b.TempDir(), rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		write(b, dir, fmt.Sprintf("%d/%d.md", i%10, i), page(rng))
	}
	return dir
}

func page(rng *rand.Rand) string {
	var b strings.Builder
	for b.Len() < 10_000 {
		switch rng.IntN(90) {
		case 0:
			fmt.Fprintf(&b, "\n\n## Part %d\n\n", rng.IntN(1000))
		case 1, 2:
			b.WriteString("\n\n")
		default:
			fmt.Fprintf(&b, "word%d ", int(rng.ExpFloat64()*800))
		}
	}
	return b.String()
}

const question = "which word3 has word77 and word501"

// BenchmarkRetrieve measures a folder of 1,000 files and 10 MB.
func BenchmarkRetrieve(b *testing.B) {
	dir, cache := corpus(b), b.TempDir()
	s := tool.Settings{Dir: dir, Cache: cache}
	b.Run("index all", func(b *testing.B) {
		for b.Loop() {
			ask(b, build(b, tool.Settings{Dir: dir}, nil), question)
		}
	})
	ask(b, build(b, s, nil), question)
	b.Run("first question of a process", func(b *testing.B) {
		for b.Loop() {
			ask(b, build(b, s, nil), question)
		}
	})
	tool := build(b, s, nil)
	ask(b, tool, question)
	b.Run("question", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ask(b, tool, question)
		}
	})
	rng := rand.New(rand.NewPCG(3, 4))
	b.Run("question after one file changed", func(b *testing.B) {
		for b.Loop() {
			write(b, dir, "5/5.md", page(rng))
			ask(b, tool, question)
		}
	})
}
