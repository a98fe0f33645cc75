package guard

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/types"
	"github.com/pexctl/pex/engine/exprenv"
)

// places says which names each place has beside `parameters` (DESIGN section 4).
var places = map[string][]string{
	"after_plan":     {"run", "plan", "reply"},
	"before_tool":    {"run", "plan", "step", "tool"},
	"after_tool":     {"run", "plan", "step", "tool"},
	"after_step":     {"run", "plan", "step"},
	"after_reflect":  {"run", "plan", "reply"},
	"edge":           {"run", "plan", "reply", "step"},
	"approval":       {"run", "plan", "step", "tool"},
	"plan_approval":  {"run", "plan", "reply"},
	"verify":         {"run", "plan", "step"},
	"reflector_when": {"run", "plan", "step"},
	"ensures":        {"run", "plan", "output"},
	"compaction":     {"run", "plan", "memory"},
	"tests":          {"output", "trace"},
	"checks":         {"output", "trace", "case"},
	"gates":          {"stats", "baseline"},
	"gates_each":     {"case", "stats", "baseline"},
}

// structs are the engine's own names.
var structs = map[string]any{
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

// NameDocs says what the names of an environment are.
var NameDocs = map[string]string{
	"parameters": "The parameters of the run.",
	"run":        "Counters of the run.",
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

// Place is the environment of a place. parameters holds the JSON Schema
// property of each declared parameter; names that are not in it are errors.
// With nil parameters any name may be used. ok is false for an unknown place.
//
// A name keeps its Go type (exprenv.Run, ...) in the values of Eval; output,
// and case where it is a row of a dataset, are JSON values.
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
		e = e.withStruct(n, structs[n])
	}
	return e, true
}

// Places lists the places, sorted.
func Places() []string { return slices.Sorted(maps.Keys(places)) }

// placesOf lists the places that have a name.
func placesOf(name string) string {
	var out []string
	for _, p := range Places() {
		if slices.Contains(places[p], name) {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}
