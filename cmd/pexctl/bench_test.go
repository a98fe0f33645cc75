package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// built builds the binary as `make build` does and returns its path.
func built(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "pexctl")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".").CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func bench(b *testing.B, args ...string) {
	bin := built(b)
	home := b.TempDir()
	info, err := os.Stat(bin)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.Command(bin, args...)
		cmd.Env = append(os.Environ(), "PEX_HOME="+home)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms")
	b.ReportMetric(float64(info.Size())/(1<<20), "MiB-binary")
}

// BenchmarkColdStartVersion measures a process that prints its version.
func BenchmarkColdStartVersion(b *testing.B) { bench(b, "version") }

// BenchmarkColdStartHello measures a process that runs specs/hello: four model
// calls, one tool call, a synced journal, and a stored conversation.
func BenchmarkColdStartHello(b *testing.B) { bench(b, "run", "../../specs/hello", "-q") }

// BenchmarkColdStartHelloNoMemory is the same without conversation memory.
func BenchmarkColdStartHelloNoMemory(b *testing.B) {
	bench(b, "run", "../../specs/hello", "-q", "--set", "memory.backend=none")
}
