//go:build linux

package starlark

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// limitData lets the process map at most more additional bytes of memory. Beyond that the runtime exits with "out of
// memory".
func limitData(more uint64) {
	size, ok := dataSize()
	if !ok {
		return
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) != nil {
		return
	}
	limit.Cur = min(size+more, limit.Max)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // best effort: the heap is checked anyway
}

// dataSize returns the size of the data segment in bytes, which RLIMIT_DATA limits: VmData of proc_pid_status(5).
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
