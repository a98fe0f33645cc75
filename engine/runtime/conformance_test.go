package runtime_test

import (
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

func TestScopeFollowsTheContract(t *testing.T) {
	enginetest.ScopeSuite(t, func(t *testing.T, p *engine.Program, in engine.Input, h engine.Host) {
		execute(t.Context(), p, in, h, runtime.Options{Journal: &journal.Memory{RoundTrip: true}, Virtual: true})
	})
}
