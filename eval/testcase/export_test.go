package testcase

import "github.com/pexctl/pex/engine"

// NewMemory is for the conformance suite of memories.
func NewMemory() engine.Memory { return newMemory() }
