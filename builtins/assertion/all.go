package assertion

import "github.com/pexctl/pex/eval/trial"

// All returns every check of this package, in the order of the reference.
func All() trial.Checks {
	return trial.Checks{
		Equals, Contains, StartsWith, EndsWith, Regex, Number, JSONSchema, JSONPath,
		Rouge, Levenshtein, Similarity,
		Trajectory, Refusal, Steps, Tokens, Cost, Latency,
		Expr, Command, Rubric, Pairwise,
	}
}
