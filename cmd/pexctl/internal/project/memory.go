package project

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/providers/badger"
)

const (
	// MemoryIdle is how long the store stays open between the operations of one
	// command.
	MemoryIdle = 300 * time.Millisecond
	// MemoryInbox is the maximum size of the inbox to which runs append, in bytes.
	MemoryInbox = 256 << 10
	// memoryWait is how long a command that runs nothing waits for processes that
	// use the store. A run waits up to its limits.
	memoryWait = time.Minute
)

// OpenMemory returns the memory store in dir for a command that runs nothing.
func OpenMemory(c *ui.Call, dir string) *badger.Store {
	m := badger.Open(dir, badger.Options{Tenant: c.Tenant, Idle: MemoryIdle, LockWait: memoryWait})
	m.ReportWaits(func(w badger.Wait) { fmt.Fprintln(c.Stderr, "pexctl:", WaitNote(w)) })
	return m
}

// WaitNote returns the progress line for a store that other processes use.
func WaitNote(w badger.Wait) string {
	text := "waiting for memory store " + w.Dir
	if w.PID != 0 {
		text += fmt.Sprintf(", in use by process %d", w.PID)
	}
	if w.Queue > 0 {
		text += fmt.Sprintf(", %d more ahead", w.Queue)
	}
	return fmt.Sprintf("%s (%v)", text, w.Waited.Round(time.Second))
}
