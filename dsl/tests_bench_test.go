package dsl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
)

// BenchmarkLoadTests loads 200 cases of one spec, in one file and in separate
// folders.
func BenchmarkLoadTests(b *testing.B) {
	dir := b.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	const keys = "parameters: {question: x}, run: {}, expect: ['output contains \"yes\"', trace.model_calls < 6], trajectory: {tools: [read_file]}"
	var all strings.Builder
	all.WriteString(testsHead + "tests:\n")
	for i := range 200 {
		fmt.Fprintf(&all, "  - {name: case %d, %s}\n", i, keys)
		write(fmt.Sprintf("tests/%d/case.yaml", i), "{"+keys+"}\n")
	}
	write("pex.lock", "")
	write("spec.yaml", agent+"tools: {read_file: {}}\n")
	write("all.yaml", all.String())
	folders, err := filepath.Glob(filepath.Join(dir, "tests", "*"))
	if err != nil {
		b.Fatal(err)
	}
	for name, paths := range map[string][]string{"file": {filepath.Join(dir, "all.yaml")}, "folders": folders} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o := options()
				o.Programs = dsl.NewPrograms(o)
				for _, path := range paths {
					if _, found := dsl.LoadTests(path, o); len(found) > 0 {
						b.Fatal(found)
					}
				}
			}
		})
	}
}
