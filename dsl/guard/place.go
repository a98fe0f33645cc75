package guard

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/types"
	"github.com/pexctl/pex/engine/exprenv"
)

// places maps each place to its names other than `parameters`.
var places = map[string][]string{
	"after_plan":     {"run", "plan", "reply"},
	"before_tool":    {"run", "plan", "step", "tool"},
	"after_tool":     {"run", "plan", "step", "tool"},
	"after_step":     {"run", "plan", "step"},
	"after_reflect":  {"run", "plan", "reply"},
	"edge":           {"run", "plan", "reply", "step"},
	"approval":       {"run", "plan", "step", "tool"},
	"plan_approval":  {"run", "plan", "reply"},
	"approvers":      {"by", "run", "tool"},
	"plan_approvers": {"by", "run"},
	"verify":         {"run", "plan", "step"},
	"reflector_when": {"run", "plan", "step"},
	"ensures":        {"run", "plan", "output"},
	"compaction":     {"run", "plan", "memory"},
	"tests":          {"output", "trace"},
	"checks":         {"output", "trace", "case"},
	"gates":          {"stats", "baseline"},
	"gates_each":     {"case", "stats", "baseline"},
}

// structs maps the engine's names to values of their types.
var structs = map[string]any{
	"by":       exprenv.Actor{},
	"run":      exprenv.Run{},
	"plan":     exprenv.Plan{},
	"step":     exprenv.Step{},
	"tool":     exprenv.Tool{},
	"reply":    exprenv.Reply{},
	"memory":   exprenv.Memory{},
	"trace":    exprenv.Trace{},
	"case":     exprenv.Case{},
	"stats":    exprenv.Stats{},
	"baseline": exprenv.Stats{},
}

// NameDocs documents the names of environments.
var NameDocs = map[string]string{
	"parameters": "The parameters of the run.",
	"by":         "Who answers the question.",
	"run":        "Counters of the run. For approvers: who started it.",
	"plan":       "The current plan.",
	"step":       "The step being checked.",
	"tool":       "The tool call being checked.",
	"reply":      "The last reply of the planner or reflector.",
	"memory":     "The request about to be sent.",
	"trace":      "The events of the run, from start to end.",
	"output":     "The validated answer.",
	"case":       "The case of the dataset.",
	"stats":      "The statistics of all trials.",
	"baseline":   "The same statistics of the baseline.",
}

// Place returns the environment of a place. parameters maps each declared
// parameter to its JSON Schema; other names are errors. With nil parameters any
// name is allowed. ok is false for an unknown place.
//
// In the values of Eval, a name keeps its Go type (exprenv.Run, ...). output and
// a case that is a dataset row are JSON values.
func Place(name string, parameters map[string]any) (e Env, ok bool) {
	more, ok := places[name]
	if !ok {
		return Env{}, false
	}
	declared := types.Map{}
	for n, schema := range parameters {
		declared[n] = TypeOf(schema)
	}
	if parameters == nil {
		declared[types.Extra] = types.Any
	}
	e = e.with("parameters", declared)
	e.strict = !slices.Contains(more, "trace")
	for _, n := range more {
		if n == "output" || n == "case" && name == "checks" {
			e = e.with(n, types.Any)
			continue
		}
		v := structs[n]
		if n == "run" && slices.Contains(more, "by") {
			v = exprenv.AskedRun{}
		}
		e = e.withStruct(n, v)
	}
	return e, true
}

// Places returns the places, sorted.
func Places() []string { return slices.Sorted(maps.Keys(places)) }

// placesOf returns the places that have a name, as text.
func placesOf(name string) string {
	var out []string
	for _, p := range Places() {
		if slices.Contains(places[p], name) {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}
