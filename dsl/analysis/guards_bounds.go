package analysis

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// Bounds of runs: maxPlan is the maximum number of steps in a plan, attempts the
// maximum number of attempts of a step, slack the seconds that a run may continue
// after its deadline.
const (
	maxPlan  = 100
	attempts = 20
	slack    = 1
)

// placeBounds computes the bounds of the values that expressions of one spec can
// see, for each place.
type placeBounds struct {
	*dsl.Pass
	tree       dsl.Value
	properties map[string]any // JSON Schemas of the parameters
	parameters interval.Range
	written    bool // the spec defines the graph
	strategy   string
	delegated  bool // agents execute the steps
}

func newPlaceBounds(p *dsl.Pass) *placeBounds {
	o := &placeBounds{Pass: p, tree: p.Spec.Tree(), properties: map[string]any{}}
	fields := map[string]interval.Range{}
	for i := range p.Program.Parameters {
		q := &p.Program.Parameters[i]
		schema := decoded(q.Schema)
		o.properties[q.Name] = schema
		if fields[q.Name] = interval.OfSchema(schema); !q.Required && q.Default == nil {
			fields[q.Name] = fields[q.Name].Or(interval.Nothing())
		}
	}
	o.parameters = interval.Object(fields)
	o.written = o.tree.Get("graph").IsMapping()
	if o.strategy = o.tree.Get(language.Reflector, "strategy").Text(); o.strategy == "" {
		o.strategy = "per_step"
	}
	o.delegated = o.tree.Get(language.Executor, "agent").Exists() || slices.ContainsFunc(o.tree.Get("graph", "nodes").Items(), func(n dsl.Value) bool {
		return n.Get("agent").Exists()
	})
	return o
}

// decoded returns a JSON Schema as a Go value, or nil if it is not valid JSON.
func decoded(schema json.RawMessage) (v any) {
	if json.Unmarshal(schema, &v) != nil {
		return nil
	}
	return v
}

// common returns the bounds that hold in all places.
func (o *placeBounds) common() interval.Bounds {
	return interval.Bounds{"parameters": o.parameters, "run": o.run(nil), "plan": o.plan()}
}

// run returns the bounds of a run's counters. here overrides some of them for one
// place.
func (o *placeBounds) run(here map[string]interval.Range) interval.Range {
	l := o.Program.Limits
	steps := interval.Whole(0, float64(l.MaxSteps)).Because("limits.max_steps")
	return interval.OfType(exprenv.Run{}).With(map[string]interval.Range{
		"steps_executed": steps, "no_progress": steps, "replans": o.replans(), "model_calls": atLeast(0),
		"tool_calls": boundedBy(l.MaxToolCalls, "limits.max_tool_calls"), "elapsed": o.elapsed(),
		// Unbounded: a provider may report more than was reserved.
		"tokens": atLeast(0), "cost": interval.Number(0, math.Inf(1)),
	}).With(here)
}

// atLeast returns the range of whole numbers from n.
func atLeast(n float64) interval.Range { return interval.Whole(n, math.Inf(1)) }

// boundedBy returns the range of a counter with a limit; 0 means no limit.
func boundedBy(limit int, path string) interval.Range {
	if limit <= 0 {
		return atLeast(0)
	}
	return interval.Whole(0, float64(limit)).Because(path)
}

// elapsed is bounded by the time limit of the run. A write in flight is not
// interrupted, and guards are evaluated after it.
func (o *placeBounds) elapsed() interval.Range {
	most := o.Program.Limits.MaxDuration
	if most <= 0 {
		return interval.Number(0, math.Inf(1))
	}
	longest := 0.0
	for i := range o.Tools {
		t := o.Tools[i].Spec
		if t.Effect != tool.ReadEffect && t.Effect != tool.IdempotentEffect {
			timeout := t.Timeout
			if timeout <= 0 {
				timeout = tool.DefaultTimeout
			}
			longest = max(longest, timeout.Seconds())
		}
	}
	return interval.Number(0, most.Seconds()+longest+slack).Because("limits.max_duration plus the time of a write in flight")
}

// replans returns the number of times that the plan is replaced. Continuing with
// the remaining steps is not a replan in per_step. In a graph that the spec
// defines, the planner may be visited any number of times.
func (o *placeBounds) replans() interval.Range {
	wanted := slices.ContainsFunc(o.Program.Guards, func(g engine.Guard) bool { return g.Do == engine.GuardReplan })
	approval := o.tree.Get(language.Planner, "approval").Text()
	denied := approval != "" && approval != "never"
	switch {
	case o.written:
		return atLeast(0)
	case !wanted && (o.strategy == "none" || o.strategy == "per_step" && !denied):
		return interval.Whole(0, 0).Because("with strategy: " + o.strategy + ", only a guard with do: replan changes the plan")
	}
	return interval.Whole(0, float64(o.Program.Limits.MaxReplans)).Because("limits.max_replans")
}

// endedStatuses are the statuses of a finished step.
var endedStatuses = []string{
	string(plan.OK), string(plan.Failed), string(plan.Limit), string(plan.Loop), string(plan.Timeout),
	string(plan.Cancelled), string(plan.Skipped), string(plan.NeedsReview),
}

// step returns the bounds of a step with one of some statuses.
func (o *placeBounds) step(more map[string]interval.Range, statuses ...string) interval.Range {
	return interval.OfType(exprenv.Step{}).With(map[string]interval.Range{
		"status": interval.Words(statuses...), "attempts": interval.Whole(0, attempts).Because("executor.step_attempts is at most 20"), "tool_calls": atLeast(0),
	}).With(more)
}

// emptyStep returns the fields of a step without a result so far.
func emptyStep() map[string]interval.Range {
	empty := interval.Words("")
	return map[string]interval.Range{"result": empty, "error": empty}
}

// plan returns the bounds of the plan. A step ends by being executed, or by being
// skipped with the rest of its plan after another step fails.
func (o *placeBounds) plan() interval.Range {
	most := o.Program.Limits.MaxSteps * (maxPlan + 1)
	done, open := o.step(nil, endedStatuses...), o.step(emptyStep(), "")
	return interval.OfType(exprenv.Plan{}).With(map[string]interval.Range{
		"version": atLeast(0), "steps": interval.List(0, most+maxPlan, done.Or(open)),
		"completed": interval.List(0, most, done), "remaining": interval.List(0, maxPlan, open),
	})
}

// vocabulary returns the words that a value can have anywhere in the language.
// The words of a parameter or a reply are known in their place only.
func (o *placeBounds) vocabulary(s interval.UnknownWord) []string {
	var words []string
	switch s.Name[strings.LastIndex(s.Name, ".")+1:] {
	case "status":
		words = append(words, endedStatuses...)
	case "effect":
		words = effects
	default:
		words = slices.Clone(s.Words)
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}
