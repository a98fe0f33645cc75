package planning

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// MaxSteps is the maximum number of steps in a plan.
const MaxSteps = 100

// Values of plan_format.
const (
	FormatList  = "list"
	FormatSteps = "steps"
	FormatDag   = "dag"
)

// Number assigns IDs to steps that have none. A step that remains from the previous plan
// keeps its ID. IDs of completed steps are not reused.
func Number(v *engine.View, steps []plan.Step) []plan.Step {
	st := v.State
	next := st.HighestStepID
	taken := func(id string) bool {
		return slices.ContainsFunc(steps, func(s plan.Step) bool { return s.ID == id }) || st.Done(id)
	}
	open := remainingSteps{steps: st.Remaining()}
	var renamed map[string]string
	for i := range steps {
		if steps[i].ID != "" && !st.Done(steps[i].ID) {
			continue
		}
		if steps[i].ID == "" {
			if id := open.withGoal(steps[i].Goal); id != "" && !taken(id) {
				steps[i].ID = id
				continue
			}
		}
		id := ""
		for id == "" || taken(id) {
			next++
			id = "s" + strconv.Itoa(next)
		}
		if old := steps[i].ID; old != "" && renamed[old] == "" {
			if renamed == nil {
				renamed = map[string]string{}
			}
			renamed[old] = id
		}
		steps[i].ID = id
	}
	return renameRefs(steps, renamed)
}

// follow updates references to steps whose ID changed. In a step that was itself renamed,
// its old ID refers to the completed step.
func renameRefs(steps []plan.Step, renamed map[string]string) []plan.Step {
	if len(renamed) == 0 {
		return steps
	}
	for _, old := range slices.Sorted(maps.Keys(renamed)) {
		id := renamed[old]
		now := strings.NewReplacer("{steps."+old+".", "{steps."+id+".", "<steps."+old+".", "<steps."+id+".")
		for i := range steps {
			if st := &steps[i]; st.ID != id {
				st.DependsOn = slices.Clone(st.DependsOn)
				for j, dep := range st.DependsOn {
					if dep == old {
						st.DependsOn[j] = id
					}
				}
				st.Goal, st.Context = now.Replace(st.Goal), now.Replace(st.Context)
				st.Args = renameArgRefs(st.Args, now)
			}
		}
	}
	return steps
}

// renamedRefs returns args with the references in their strings renamed.
func renameArgRefs(args map[string]json.RawMessage, now *strings.Replacer) map[string]json.RawMessage {
	if !hasRefs(args) {
		return args
	}
	out := make(map[string]json.RawMessage, len(args))
	for _, k := range slices.Sorted(maps.Keys(args)) {
		out[k] = args[k]
		if value, err := reply.Decode(args[k]); err == nil {
			out[k] = jsonvalue.Encode(mapTexts(value, func(text string) any { return now.Replace(text) }))
		}
	}
	return out
}

// Unfinished removes the steps of a reply that have already completed (same ID, same
// goal, status ok). Models often repeat the whole plan, and no step should run twice.
func Unfinished(v *engine.View, steps []plan.Step) (kept []plan.Step, dropped []string) {
	done := func(st plan.Step) bool {
		rec, ok := v.State.Record(st.ID)
		return ok && rec.Status == plan.OK &&
			slices.ContainsFunc(v.State.Plan.Steps, func(p plan.Step) bool { return p.ID == st.ID && p.Goal == st.Goal })
	}
	for _, st := range steps {
		if st.ID != "" && done(st) {
			dropped = append(dropped, st.ID)
		}
	}
	if dropped != nil {
		steps = slices.DeleteFunc(steps, done)
	}
	return steps, dropped
}

// remainingSteps is an iterator over the remaining steps. A search continues where the last
// one ended, because a new plan usually repeats the steps in order.
type remainingSteps struct {
	steps []plan.Step
	next  int
}

// withGoal returns the ID of the remaining step with the goal, or "".
func (r *remainingSteps) withGoal(goal string) string {
	for k := range r.steps {
		i := (r.next + k) % len(r.steps)
		if r.steps[i].Goal == goal {
			r.next = i + 1
			return r.steps[i].ID
		}
	}
	return ""
}

// AddDependencies adds to each step's dependencies the steps whose results it uses.
func AddDependencies(steps []plan.Step) []plan.Step {
	for i := range steps {
		for _, ref := range Refs(steps[i]) {
			if !slices.Contains(steps[i].DependsOn, ref) {
				steps[i].DependsOn = append(slices.Clip(steps[i].DependsOn), ref)
			}
		}
	}
	return steps
}

// Check returns everything that is wrong with a plan. v is the current view; tools are
// those available to its steps.
func Check(s engine.Scope, v *engine.View, tools []tool.Info, format string, steps []plan.Step) []string {
	var wrong []string
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if len(steps) > MaxSteps {
		return []string{TooLong(len(steps))}
	}
	planned := func(id string, upTo int) int {
		return slices.IndexFunc(steps[:upTo], func(s plan.Step) bool { return s.ID == id })
	}
	deps := false
	for i, st := range steps {
		deps = deps || len(st.DependsOn) > 0
		if !isID(st.ID) {
			add("step %d has the invalid id %q; use 1 to 64 letters, digits, _, - or .", i+1, st.ID)
		}
		if strings.TrimSpace(st.Goal) == "" {
			add("step %d (%s) has no goal", i+1, st.ID)
		}
		if planned(st.ID, i) >= 0 {
			add("duplicate step id %q", st.ID)
		}
		for _, t := range st.Tools {
			if !slices.ContainsFunc(tools, func(info tool.Info) bool { return info.Name == t }) {
				add("step %s uses the unknown tool %q; the tools are: %s", st.ID, t, strings.Join(ToolNames(tools), ", "))
			}
		}
		for _, ref := range badRefs(st) {
			add("step %s uses %s, but a step only has result and output", st.ID, ref)
		}
		if err := checkArgs(s, st); err != nil {
			add("step %s: %v", st.ID, err)
		}
	}
	if !deps {
		return wrong
	}
	for i, st := range steps {
		for _, dep := range st.DependsOn {
			switch at := planned(dep, len(steps)); {
			case at < 0 && !v.State.Done(dep):
				add("step %s depends on the unknown step %q", st.ID, dep)
			case at >= i && format != FormatDag:
				add("step %s uses step %s, which runs after it", st.ID, dep)
			}
		}
	}
	if cycle := findCycle(steps); cycle != "" {
		add("dependency cycle: %s", cycle)
	}
	return wrong
}

// TooLong returns the error text for a plan with too many steps.
func TooLong(steps int) string {
	return fmt.Sprintf("the plan has %d steps; at most %d are allowed", steps, MaxSteps)
}

// isID reports whether id is a valid step ID, which can be part of effect paths and
// references.
func isID(id string) bool {
	return idPattern().MatchString(id) && id != "." && id != ".."
}

var idPattern = text.Regexp(`^[A-Za-z0-9_.-]{1,64}$`)

// checkArgs checks arguments without references against the schema of the step's first tool.
func checkArgs(s engine.Scope, st plan.Step) error {
	if len(st.Args) == 0 || len(st.Tools) == 0 || hasRefs(st.Args) {
		return nil
	}
	if err := s.Fits(st.Tools[0], jsonvalue.Encode(st.Args)); err != nil && !strings.HasPrefix(err.Error(), "unknown tool") {
		return err
	}
	return nil
}

// findCycle returns a cycle of dependencies as "a -> b -> a", or "".
func findCycle(steps []plan.Step) string {
	at := map[string]int{}
	for i, st := range steps {
		at[st.ID] = i
	}
	state := make([]int, len(steps)) // 0 unvisited, 1 on the path, 2 done
	var path []string
	var visit func(int) string
	visit = func(i int) string {
		path = append(path, steps[i].ID)
		state[i] = 1
		for _, dep := range steps[i].DependsOn {
			j, ok := at[dep]
			if !ok || state[j] == 2 {
				continue
			}
			if state[j] == 1 {
				return strings.Join(append(path[slices.Index(path, dep):], dep), " -> ")
			}
			if c := visit(j); c != "" {
				return c
			}
		}
		state[i] = 2
		path = path[:len(path)-1]
		return ""
	}
	for i := range steps {
		if state[i] == 0 {
			if c := visit(i); c != "" {
				return c
			}
		}
	}
	return ""
}

// ToolNames returns the names of tools, in order.
func ToolNames(tools []tool.Info) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Name
	}
	return out
}
