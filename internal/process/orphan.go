//go:build linux

package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

const sweeps = 10 // rounds, because new children may start while others are killed

// ownGroup starts a child in its own group, and makes the kernel kill it when its parent exits.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Sweep kills processes that left the group of a call but still have its mark in their environment.
func Sweep(mark string) {
	for range sweeps {
		if !sweepOnce([]byte(mark)) {
			return
		}
	}
}

func sweepOnce(mark []byte) (found bool) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append(env, 0), append(slices.Clip(mark), 0)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
			found = true
		}
	}
	return found
}
