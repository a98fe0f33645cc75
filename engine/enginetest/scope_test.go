package enginetest_test

import (
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
)

func TestScopeFollowsTheContract(t *testing.T) {
	enginetest.ScopeSuite(t, func(t *testing.T, p *engine.Program, in engine.Input, h engine.Host) {
		if err := p.Nodes[p.Graph.Start].Run(enginetest.NewScope(t.Context(), p, in, h)); err != nil {
			t.Error(err)
		}
	})
}
