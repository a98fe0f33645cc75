package main

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/providers/badger"
)

const (
	// memoryRest is how long the store stays open between the operations of one
	// command.
	memoryRest = 300 * time.Millisecond
	// memoryWait is how long a command that runs nothing waits for the processes
	// that use the store. A run waits for as long as its limits allow.
	memoryWait = time.Minute
)

// openMemory names the memory store in dir for a command that runs nothing.
func openMemory(c *ui.Call, dir string) *badger.Store {
	m := badger.Open(dir, badger.Options{Tenant: c.String("tenant"), Idle: memoryRest, LockWait: memoryWait})
	m.ReportWaits(func(w badger.Wait) { fmt.Fprintln(c.Stderr, "pexctl:", project.WaitNote(w)) })
	return m
}
