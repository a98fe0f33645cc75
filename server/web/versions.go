package web

import (
	"context"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/batch"
	renderer "github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
)

// How many evaluations a page reads, and how many it shows for a version: the latest.
const (
	maxRead   = 50
	maxScores = 5
)

// version is what is known about a version of a spec.
type version struct {
	Spec      engine.SpecInfo
	Current   bool
	Runs      int
	Completed int
	Failed    int
	Last      time.Time // when its last run started; zero = no runs
	Evals     []score   // latest first
}

// score is the pass rate of a version in an evaluation.
type score struct {
	ID, Suite string
	At        time.Time
	batch.VariantSummary
}

// versionsOf returns the versions of the spec of an agent that have runs or evaluations, the
// current one first, then those with the latest runs.
func versionsOf(ctx context.Context, c *access.Client, a *agents.Agent) ([]version, error) {
	p := a.Program
	all := []version{{Spec: engine.SpecInfo{Name: p.Name, Version: p.Version, Digest: p.Digest}, Current: true}}
	of := func(spec engine.SpecInfo) *version {
		i := slices.IndexFunc(all, func(v version) bool { return v.Spec.Digest == spec.Digest })
		if i < 0 {
			i, all = len(all), append(all, version{Spec: spec})
		}
		return &all[i]
	}
	sums, err := c.Runs.Summaries(ctx)
	if err != nil {
		return nil, err
	}
	for _, sum := range sums {
		if sum.Spec.Digest == "" || c.AgentOf(access.Owner{Agent: sum.Agent, Spec: sum.Spec.Name}) != a.Name {
			continue
		}
		v := of(sum.Spec)
		v.add(sum)
	}
	found, err := c.Evaluations()
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(m report.Manifest) bool {
		return !slices.ContainsFunc(m.Variants, func(v report.VariantInfo) bool { return v.Spec.Name == p.Name })
	})
	for _, m := range found[:min(len(found), maxRead)] {
		sum := c.SummarizeEvaluation(m)
		for _, variant := range sum.Variants {
			if variant.Spec.Name == p.Name && variant.Trials > 0 {
				if v := of(variant.Spec); len(v.Evals) < maxScores {
					v.Evals = append(v.Evals, score{sum.ID, sum.Suite, sum.StartedAt, variant})
				}
			}
		}
	}
	slices.SortStableFunc(all[1:], func(a, b version) int { return b.Last.Compare(a.Last) })
	return all, nil
}

func (v *version) add(sum *runs.Summary) {
	v.Runs++
	switch sum.Status {
	case stop.RunCompleted:
		v.Completed++
	case stop.RunFailed:
		v.Failed++
	default: // Other
	}
	if sum.StartedAt.After(v.Last) {
		v.Last = sum.StartedAt
	}
}

// Other returns the number of runs that neither completed nor failed.
func (v version) Other() int { return v.Runs - v.Completed - v.Failed }

// prompt is what a node sends to its model.
type prompt struct{ Node, Text string }

// promptsOf returns the prompts of a program at the start of a run, with a placeholder for the
// question. Nodes that cannot be rendered, such as without a required parameter, have none.
func promptsOf(p *engine.Program) (out []prompt) {
	var state renderer.State
	v, err := state.View(p, "", nil)
	if err != nil {
		return nil
	}
	for i := range p.Tools {
		t := &p.Tools[i]
		v.Tools = append(v.Tools, tool.Info{Name: t.Name, Description: t.Description, Effect: t.Effect})
	}
	for _, node := range renderer.Nodes(p) {
		if node == renderer.WithHistory {
			continue
		}
		if call, err := renderer.Call(v, node); err == nil {
			out = append(out, prompt{node, renderer.Markdown(call.Messages)})
		}
	}
	return out
}
