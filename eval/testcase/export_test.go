package testcase

import (
	"github.com/pexctl/pex/engine/memory"
)

// NewMemory is for the conformance suite of memories.
func NewMemory() memory.Store { return newMemory() }
