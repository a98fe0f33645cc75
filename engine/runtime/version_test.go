package runtime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// countingModel counts its calls.
type countingModel struct{ asked *int }

func (p countingModel) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	*p.asked++
	return &model.Reply{Text: "as before", Stop: model.EndTurn}, nil
}

// A later version may have other built-in prompts; recorded replies are then accepted.
// Within one version another prompt is drift.
func TestPromptsOfAnotherVersionAreNotDrift(t *testing.T) {
	tests := []struct {
		name, version string
		status        stop.RunStatus
		warnings      int
	}{
		{"another version", "2", stop.RunCompleted, 1},
		{"the same version", "1", stop.RunFailed, 0},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			j := &journal.Memory{RoundTrip: true}
			run := func(version, prompt string) *engine.Result {
				p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
					for _, name := range []string{"one", "two"} {
						if _, err := s.Model(name, model.Call{Role: "planner", LLM: "m", Messages: []model.Message{{Role: model.User, Text: model.Text{prompt}}}}); err != nil {
							return err
						}
					}
					return nil
				}})
				p.Models = []engine.ModelSpec{{Name: "m"}}
				in := engine.Input{RunID: "r", Origin: &engine.Origin{Version: "1"}}
				h := engine.Host{Models: map[string]model.Model{"m": countingModel{&asked}}}
				return execute(t.Context(), p, in, h, runtime.Options{Journal: j, Version: version})
			}
			if res := run("1", "old words"); res.Status != stop.RunCompleted || asked != 2 {
				t.Fatal(res.StopReason, asked)
			}
			j.Records = j.Records[:4] // killed before the second reply
			res := run(c.version, "new words")
			if res.Status != c.status || len(res.Warnings) != c.warnings {
				t.Fatal(res.StopReason, res.Warnings)
			}
			if c.status == stop.RunCompleted && (asked != 3 || !strings.Contains(res.Warnings[0], "version 1")) {
				t.Error(asked, res.Warnings)
			}
		})
	}
}
