package access

import (
	"slices"

	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/server/auth"
)

// Evaluations returns the evaluations that the client may view, latest first. One that cannot be
// read belongs to no agent.
func (c *Client) Evaluations() ([]report.Manifest, error) {
	if c.Evals == "" {
		return nil, nil
	}
	all, err := batch.List(c.Evals)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(m report.Manifest) bool {
		if len(m.Variants) == 0 {
			return !c.Can(auth.Admin, nil)
		}
		return slices.ContainsFunc(m.Variants, func(v report.VariantInfo) bool { return !c.CanFor(auth.View, Owner{Spec: v.Spec.Name}) })
	}), nil
}

// SummarizeEvaluation returns the summary of one of Evaluations.
func (c *Client) SummarizeEvaluation(m report.Manifest) batch.Summary {
	sum := batch.Summarize(c.Evals, m)
	if sum.Problem != "" {
		sum.Problem = "the evaluation cannot be read; pexctl store check has details"
	}
	return sum
}
