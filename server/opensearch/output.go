package opensearch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/turn"
)

// state is the result of a run so far, with its open questions.
type state struct {
	*engine.Result
	program *engine.Program
}

func (c *call) result(run string) (*state, error) {
	r, err := c.Read(run)
	if err != nil {
		return nil, err
	}
	return c.stateOf(r)
}

func (c *call) stateOf(r *runs.Run) (*state, error) {
	s := &state{c.Result(c.ctx(), r, true), r.Program}
	open, err := c.OpenQuestions(c.ctx(), s.RunID)
	if err != nil {
		return nil, err
	}
	s.Interrupts = nil
	for _, q := range open {
		s.Interrupts = append(s.Interrupts, q.Open)
	}
	return s, nil
}

func (s *state) errorMessage() string {
	return fmt.Sprintf("Agent execution failed: the run %s: %s: %s", s.Status, s.StopReason.Code, cmp.Or(s.Error, s.StopReason.Message))
}

// inference returns the outputs of a run.
func (s *state) inference(tokens bool) []object {
	output := []object{}
	for _, id := range s.ids() {
		output = append(output, object{"name": id[0], "result": id[1]})
	}
	response := object{"response": s.text(), "run_id": s.RunID, "stop_reason": s.StopReason.Code}
	if len(s.Interrupts) > 0 {
		response["interrupts"], response["stop_reason"] = s.Interrupts, stop.Interrupted
	}
	output = append(output, object{"name": "response", "dataAsMap": response})
	if tokens {
		output = append(output, object{"name": "token_usage", "dataAsMap": s.tokens()})
	}
	return []object{{"output": output}}
}

// ids returns the names and values of the ids of a run's conversations; none if it is not
// stored. Those of its executor appear after the first step.
func (s *state) ids() (out [][2]string) {
	if s.program.Memory.Backend == "none" {
		return nil
	}
	out = append(out, [2]string{"memory_id", s.MemoryID}, [2]string{"parent_interaction_id", runtime.InteractionID(s.RunID)})
	if n := len(s.Steps); n > 0 {
		out = append(out, [2]string{"executor_agent_memory_id", s.ExecutorMemoryID},
			[2]string{"executor_agent_parent_interaction_id", cmp.Or(s.ExecutorInteractionID, runtime.StepInteractionID(s.RunID, n-1))})
	}
	return out
}

// text is the answer of a run, or its questions. Callers of ML Commons recognize the answer of a
// run that was stopped by its beginning.
func (s *state) text() string {
	switch {
	case len(s.Interrupts) > 0:
		return turn.Prompt(s.Interrupts)
	case s.StopReason.Code == stop.MaxSteps:
		return fmt.Sprintf("Max Steps Limit (%d) Reached. Here's a summary of the steps completed so far:\n\n%s", s.program.Limits.MaxSteps, s.Response)
	}
	return s.Response
}

// tokens returns the tokens of each call of a model, and of each model.
func (s *state) tokens() object {
	turns, models := []object{}, []object{}
	for _, m := range s.Conversation {
		if u := m.Usage; u != nil {
			turns = append(turns, object{"turn": len(turns) + 1, "model_name": m.Model, "input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Total()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Usage.ByModel)) {
		u := s.Usage.ByModel[name]
		models = append(models, object{"model_name": name, "call_count": u.ModelCalls, "input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Total()})
	}
	return object{"per_turn_usage": turns, "per_model_usage": models}
}
