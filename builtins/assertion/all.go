package assertion

import "github.com/pexctl/pex/eval/trial"

// All is every check of this folder, in the order in which catalogues show them.
func All() trial.Checks {
	return trial.Checks{
		Equals, Contains, StartsWith, EndsWith, Regex, Number, JSONSchema, JSONPath,
		Rouge, Levenshtein, Similarity,
		Trajectory, Refusal, Steps, Tokens, Cost, Latency,
		Expr, Command, Rubric, Pairwise,
	}
}
