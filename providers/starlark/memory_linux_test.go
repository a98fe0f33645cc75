//go:build linux

package starlark_test

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On one processor nobody looks at the heap while a single value is made: it
// took 16 GB of the machine, and a minute, before the program was ended.
func TestOneValueDoesNotTakeTheMachine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	worker := exec.CommandContext(ctx, "/proc/self/exe")
	worker.Env = []string{"PEX_STARLARK_WORKER=1", "GOMAXPROCS=1", "GOTRACEBACK=none"}
	worker.Stdin = strings.NewReader(`{"Source": "[0] * 1000000000", "Inputs": {}, "MaxSteps": 10000, "MaxMemory": 67108864, "MaxBytes": 1000}`)
	out, err := worker.Output()
	if err == nil {
		t.Fatalf("it gave %.200s", out)
	}
	const most = 1 << 20 // kB
	if used := worker.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > most {
		t.Errorf("it took %d MB", used>>10)
	}
}
