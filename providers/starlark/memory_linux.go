//go:build linux

package starlark

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// limitData lets the process map at most this many bytes of memory more than
// it has now; the runtime says "out of memory" then, and ends it.
func limitData(more uint64) {
	has, ok := dataSize()
	if !ok {
		return
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) != nil {
		return
	}
	limit.Cur = min(has+more, limit.Max)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // the look at the heap is there still
}

// dataSize is how many bytes the process has mapped to write to: VmData of
// proc_pid_status(5), in kB there, which is what RLIMIT_DATA counts.
func dataSize() (uint64, bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(status) {
		if after, ok := strings.CutPrefix(string(line), "VmData:"); ok {
			kB, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(after), " kB"), 10, 64)
			return kB << 10, err == nil
		}
	}
	return 0, false
}
