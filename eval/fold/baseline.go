package fold

import "github.com/pexctl/pex/eval/baseline"

// Baseline is what later evaluations are compared with if this one is blessed.
// Cases without a graded trial are not in it.
func Baseline(r *Report) *baseline.File {
	m := &r.Manifest
	f := &baseline.File{
		V: baseline.Version, Suite: m.Suite, Digest: m.Digest, Grading: m.Grading, Dataset: m.DatasetHash,
		Commit: m.Commit, At: m.Started, Stats: r.Stats, Cases: make([]baseline.Case, 0, r.Cases.Len()),
	}
	for _, c := range r.Cases.All() {
		if c.N > 0 {
			f.Cases = append(f.Cases, baseline.Case{
				Case: c.ID, Variant: c.Variant, C: c.Passed, N: c.N,
				Score: c.Score, Cost: c.Cost, Tokens: c.Tokens, LatencyMS: c.LatencyMS,
			})
		}
	}
	return f
}
