package batch

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// ScoredLabel is the label of an evaluation that grades another one again; its value is the
// id of that.
const ScoredLabel = "scored"

// List returns the manifests of the evaluations in the folders of dir, latest first, named
// by their folders. A folder without a manifest was interrupted before its start. An
// evaluation with an unreadable manifest has only its name, and comes last.
func List(dir string) ([]report.Manifest, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []report.Manifest
	for _, e := range entries {
		m, err := ReadManifest(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) || !e.IsDir() {
			continue
		}
		if err != nil {
			m = report.Manifest{}
		}
		m.ID = e.Name()
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b report.Manifest) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) })
	return out, nil
}

// Summary is an evaluation in a list.
type Summary struct {
	ID        string           `json:"id"`
	Suite     string           `json:"suite"`
	StartedAt time.Time        `json:"started_at"`
	Trials    int              `json:"trials"`
	Errors    int              `json:"errors"`
	PassRate  float64          `json:"pass_rate"`
	CILow     float64          `json:"ci_low"` // the 95% interval of PassRate
	CIHigh    float64          `json:"ci_high"`
	CostUSD   float64          `json:"cost_usd"`
	Latency   float64          `json:"latency_p50"` // median time of a trial, in seconds
	Variants  []VariantSummary `json:"variants,omitempty"`
	Missing   int              `json:"missing"`
	Scored    string           `json:"scored,omitempty"` // for an evaluation that grades another one again, that one
	Commit    string           `json:"git_commit,omitempty"`
	Problem   string           `json:"problem,omitempty"` // why there is no other information
}

// VariantSummary is the result of one variant of an evaluation.
type VariantSummary struct {
	Name     string          `json:"name"`
	Spec     engine.SpecInfo `json:"spec"`
	Trials   int             `json:"trials"`
	PassRate float64         `json:"pass_rate"`
	CILow    float64         `json:"ci_low"`
	CIHigh   float64         `json:"ci_high"`
}

// Summarize returns the summary of the evaluation in the folder of dir that a manifest of
// List names.
func Summarize(dir string, m report.Manifest) Summary {
	s := Summary{ID: m.ID, Suite: m.Suite, StartedAt: m.Started, Commit: m.Commit, Scored: m.Labels[ScoredLabel]}
	r, _, err := Report(filepath.Join(dir, m.ID), report.Options{})
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	s.Trials, s.Errors, s.PassRate, s.CostUSD, s.Missing = r.Finished(), r.Stats.Errors, r.Stats.PassRate, r.Stats.Cost.Total, r.Missing
	s.CILow, s.CIHigh, s.Latency = r.Stats.CILow, r.Stats.CIHigh, r.Stats.Latency.P50
	for _, v := range m.Variants {
		of, ok := r.Stats.ByVariant[v.Name]
		if !ok && len(m.Variants) == 1 {
			of = exprenv.GroupStats{Trials: r.Stats.Trials, PassRate: r.Stats.PassRate, CILow: r.Stats.CILow, CIHigh: r.Stats.CIHigh}
		}
		s.Variants = append(s.Variants, VariantSummary{v.Name, v.Spec, of.Trials, of.PassRate, of.CILow, of.CIHigh})
	}
	return s
}

// Report makes the report of the evaluation in dir from its files.
func Report(dir string, o report.Options) (*report.Report, trial.Rows, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, nil, err
	}
	rows, err := OpenRows(dir)
	if err != nil {
		return nil, nil, err
	}
	if o.Total == 0 {
		o.Total = m.Trials
	}
	r, err := report.New(rows, m, o)
	return r, rows, err
}
