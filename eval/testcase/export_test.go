package testcase

import (
	"github.com/pexctl/pex/engine/memory"
)

// NewMemory exports newMemory for the conformance suite.
func NewMemory() memory.Store { return newMemory() }
