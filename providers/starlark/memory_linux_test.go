//go:build linux && !race

package starlark_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An operation whose result is too large is rejected before it uses the memory.
func TestOversizedOperationIsRejectedEarly(t *testing.T) {
	peak := func(source string) (kB int64, out string) {
		worker := exec.CommandContext(t.Context(), "/proc/self/exe")
		worker.Env = []string{"PEX_STARLARK_WORKER=1", "GOTRACEBACK=none"}
		in, err := json.Marshal(map[string]any{"Source": source, "Inputs": map[string]any{}, "MaxSteps": 1_000_000, "MaxMemory": 64 << 20, "MaxBytes": 1000})
		if err != nil {
			t.Fatal(err)
		}
		worker.Stdin = bytes.NewReader(in)
		text, _ := worker.Output()
		return worker.ProcessState.SysUsage().(*syscall.Rusage).Maxrss, string(text)
	}
	base, out := peak("1")
	if !strings.Contains(out, `"Result":1`) {
		t.Fatal(out)
	}
	for name, source := range map[string]string{
		"a large text repeated":  `x = "a" * 60000000` + "\nlen(x * 17)",
		"a name repeated":        `x = "a" * 30000000` + "\nx *= 30\nlen(x)",
		"texts joined by +":      `x = "a" * 30000000` + "\nlen(x + x + x + x + x)",
		"a list repeated":        `x = [0] * 1000000` + "\nlen(x * 100)",
		"a list made of a range": "len(list(range(100000000)))",
		"lists added":            `x = [0] * 1500000` + "\nlen(x + x + x + x + x + x)",
		"formatted by %":         `x = "a" * 20000000` + "\nlen('%s%s%s%s%s%s%s%s%s%s' % (x, x, x, x, x, x, x, x, x, x))",
		"formatted by format":    `x = "a" * 20000000` + "\nlen('{0}{0}{0}{0}{0}{0}{0}{0}'.format(x))",
		"joined":                 `x = "a" * 20000000` + "\nlen(','.join([x] * 50))",
		"replaced":               `x = "a" * 1000000` + "\nlen(x.replace('a', 'b' * 1000))",
	} {
		t.Run(name, func(t *testing.T) {
			kB, out := peak(source)
			if !strings.Contains(out, "more than 64 MB of memory") {
				t.Errorf("got %.300s", out)
			}
			if limit := base + 128<<10; kB > limit {
				t.Errorf("used %d MB, an empty program %d MB", kB>>10, base>>10)
			}
		})
	}
}

// With one processor, no heap check runs while a single value is created: without the limit of the system, 16 GB were
// used before the program was stopped.
func TestHugeValueIsLimitedBySystem(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	worker := exec.CommandContext(ctx, "/proc/self/exe")
	worker.Env = []string{"PEX_STARLARK_WORKER=1", "GOMAXPROCS=1", "GOTRACEBACK=none"}
	worker.Stdin = strings.NewReader(`{"Source": "[0] * 1000000000", "Inputs": {}, "MaxSteps": 10000, "MaxMemory": 67108864, "MaxBytes": 1000}`)
	out, err := worker.Output()
	if err == nil && !strings.Contains(string(out), "more than 64 MB of memory") {
		t.Fatalf("got %.200s", out)
	}
	const limit = 1 << 20 // kB
	if used := worker.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > limit {
		t.Errorf("used %d MB", used>>10)
	}
}
