package enginetest_test

import (
	"testing"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/memory"
)

func TestStoreFollowsTheContract(t *testing.T) {
	enginetest.MemorySuite(t, func(*testing.T) memory.Store { return &enginetest.Store{} })
}
