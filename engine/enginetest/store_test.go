package enginetest_test

import (
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
)

func TestStoreIsAMemory(t *testing.T) {
	enginetest.MemorySuite(t, func(*testing.T) engine.Memory { return &enginetest.Store{} })
}
