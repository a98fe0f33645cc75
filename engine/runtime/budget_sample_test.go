package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
)

// server returns a tool that samples an LLM during its calls: once or more, in sequence or
// concurrently, and not always waiting for the reply.
func (w *budgetWorld) server(models []engine.ModelSpec) tool.Binding {
	may := tool.Sampling{LLM: pick(w.rnd, models...).Name, MaxCalls: 1 + w.rnd.IntN(4), MaxTokens: 64 + w.rnd.IntN(pick(w.rnd, 100, 2000, 8000))}
	size, wanted := w.rnd.IntN(2*may.MaxTokens), pick(w.rnd, 0, 0, 10, 5000)
	set := &enginetest.Toolset{Tools: []tool.Definition{{Name: "ask"}}, ToolRules: tool.Rules{Sampling: may}}
	set.Respond = func(ctx context.Context, _ string, c *tool.Call) (*tool.Output, error) {
		rnd := w.chance(c.Key)
		ask := func() {
			_, _ = c.Sample(ctx, []model.Message{{Role: model.User, Text: model.Text{strings.Repeat("w", size)}}}, wanted)
		}
		var asking sync.WaitGroup
		for range rnd.IntN(8) {
			switch rnd.IntN(3) {
			case 0:
				ask()
			case 1:
				asking.Go(ask)
			default:
				go ask() // may outlive the call
			}
		}
		asking.Wait()
		if rnd.IntN(4) == 0 {
			return nil, errors.New("no luck")
		}
		return &tool.Output{Text: "done"}, ctx.Err()
	}
	spec := &tool.Spec{Name: "srv", Effect: pick(w.rnd, tool.ReadEffect, tool.IdempotentEffect, tool.ReadEffect, tool.WriteEffect)}
	spec.Retry = retry.Policy{MaxAttempts: w.rnd.IntN(3), InitialDelay: 1}
	return tool.Binding{Spec: spec, Tool: set}
}

// sampled returns a function that calls a tool which samples an LLM.
func (w *budgetWorld) sampled(tool string) func(engine.Scope, string) error {
	return func(s engine.Scope, at string) error {
		_, _, err := s.Tool(at, engine.Invocation{Tool: tool})
		return err
	}
}
