package evalcmd

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/toolcmd"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/internal/app/failure"
)

// evalEstimate describes an evaluation, for --dry-run.
type evalEstimate struct {
	Suite    string             `json:"suite"`
	Cases    int                `json:"cases"`
	Repeat   int                `json:"repeat"`
	Trials   int                `json:"trials"`
	Filter   string             `json:"filter,omitempty"`
	Variants []variantEstimate  `json:"variants"`
	Cost     float64            `json:"cost_usd"` // set if every LLM has a price
	Priced   bool               `json:"priced"`
	Limits   map[string]float64 `json:"limits,omitempty"`
	Checks   []report.CheckInfo `json:"checks"`
	Baseline string             `json:"baseline,omitempty"`
}

// variantEstimate is the estimate for the trials of a variant.
type variantEstimate struct {
	Name   string  `json:"name,omitempty"`
	Trials int     `json:"trials"`
	Tokens float64 `json:"tokens"` // in total
	Cost   float64 `json:"cost_usd"`
	By     string  `json:"by"` // the basis of the estimate
}

// replyTokens is the assumed length of a reply if nothing better is known.
const replyTokens = 300

// estimate prints what would run and what it may cost.
func (e *evaluation) estimate() error {
	est := evalEstimate{
		Suite: e.Name, Cases: e.total, Repeat: e.Repeat, Trials: e.trials(), Filter: e.part(),
		Priced: true, Checks: e.checkInfos(),
	}
	if e.resolved != nil {
		est.Baseline = e.resolved.ref
	}
	past := e.lastEvaluation()
	for i := range e.variants {
		v := variantEstimate{Name: e.variants[i].Name, Trials: e.total * e.Repeat}
		if err := e.estimateVariant(&v, i, past); err != nil {
			return err
		}
		est.Variants = append(est.Variants, v)
		est.Cost += v.Cost
		est.Priced = est.Priced && e.infos[i].Priced
	}
	if e.Limits.MaxCost > 0 {
		est.Limits = map[string]float64{"max_cost": e.Limits.MaxCost}
	}
	if e.outputs.JSON {
		return ui.PrintJSON(e.c.Call, est)
	}
	e.printEstimate(&est)
	return nil
}

// lastEvaluation returns the latest evaluation of the suite, or nil.
func (e *evaluation) lastEvaluation() *report.Report {
	dir, err := e.earlier(e.home, "last", "resume")
	if err != nil {
		return nil
	}
	r, _, err := rebuildReport(dir, report.Options{})
	if err != nil || r.Stats.Trials == 0 {
		return nil
	}
	return r
}

// estimateVariant estimates from the last evaluation of the variant, or else from the
// shortest possible run of the first case: one call that answers.
func (e *evaluation) estimateVariant(v *variantEstimate, i int, past *report.Report) error {
	if past != nil && past.Stats.Tokens.Mean > 0 && (hasCost(past, v.Name) || !e.infos[i].Priced) {
		tokens, cost, n := 0.0, 0.0, 0
		for _, c := range past.Cases.All() {
			if c.Variant == v.Name && c.N > 0 {
				tokens, cost, n = tokens+c.Tokens, cost+c.Cost, n+1
			}
		}
		if n > 0 {
			v.Tokens, v.Cost = float64(v.Trials)*tokens/float64(n), float64(v.Trials)*cost/float64(n)
			v.By = "the trials of " + past.Manifest.ID
			if !sameVariant(past, &e.infos[i]) {
				v.By += ", which used another version of the spec"
			}
			return nil
		}
	}
	input, cost, err := e.firstRequest(i)
	if err != nil {
		return err
	}
	v.Tokens = float64(v.Trials) * float64(input+replyTokens)
	v.Cost = float64(v.Trials) * cost
	v.By = "one planner call per trial; agents with steps need more, so run a --sample first"
	return nil
}

// hasCost reports whether an evaluation has the cost of a variant.
func hasCost(past *report.Report, variant string) bool {
	return slices.ContainsFunc(past.Manifest.Variants, func(v report.VariantInfo) bool { return v.Name == variant && v.Priced })
}

// sameVariant reports whether an evaluation ran the current version of a variant.
func sameVariant(past *report.Report, now *report.VariantInfo) bool {
	return slices.ContainsFunc(past.Manifest.Variants, func(v report.VariantInfo) bool {
		return v.Name == now.Name && v.Spec.Digest == now.Spec.Digest
	})
}

// firstRequest returns the tokens and USD of the planner's request for the first case.
func (e *evaluation) firstRequest(i int) (tokens int, usd float64, err error) {
	p := e.variants[i].Program
	planners := engine.NodesWith[engine.Planner](p)
	if len(planners) == 0 {
		return 0, 0, nil
	}
	node, prompts := p.Nodes[planners[0]].(engine.Prompter)
	if !prompts {
		return 0, 0, nil
	}
	one, err := firstCase(e.cases)
	if err != nil {
		return 0, 0, failure.Usagef("%w", err)
	}
	params, err := e.variants[i].Inputs(one)
	if err != nil {
		return 0, 0, failure.Usagef("%w", err)
	}
	host, err := e.variants[i].Host(params)
	if err != nil {
		return 0, 0, failure.Usagef("%w", err)
	}
	view := engine.ViewOf(p, engine.Input{Parameters: params}, &engine.Result{}, nil, e.c.App.Compiled)
	if view.Tools, err = toolcmd.ToolInfos(e.c.Call, p, host); err != nil {
		return 0, 0, err
	}
	chars := 0
	for _, m := range node.Prompt(view) {
		chars += len(m.Text.String())
	}
	tokens = model.EstimateTokens(chars)
	for _, m := range p.Models[:min(1, len(p.Models))] {
		usd = m.Cost.Of(model.Tokens{Input: tokens, Output: replyTokens})
	}
	return tokens, usd, nil
}

// firstCase returns the first case.
func firstCase(cases dataset.Cases) (dataset.Case, error) {
	for one, err := range cases() {
		return one, err
	}
	return dataset.Case{}, nil
}

func (e *evaluation) printEstimate(est *evalEstimate) {
	w := e.c.Stdout
	fmt.Fprintf(w, "%s: %s x %s", est.Suite, text.Count(est.Cases, "case"), text.Count(est.Repeat, "trial"))
	if len(est.Variants) > 1 {
		fmt.Fprintf(w, " x %d variants", len(est.Variants))
	}
	fmt.Fprintf(w, " = %s, %s each", text.Count(est.Trials, "trial"), text.Count(len(est.Checks), "check"))
	if est.Filter != "" {
		fmt.Fprintf(w, " (%s)", est.Filter)
	}
	fmt.Fprintln(w)
	rows := [][]string{{"VARIANT", "TRIALS", "TOKENS", "COST", "BASED ON"}}
	for i, v := range est.Variants {
		cost := "unknown: an LLM has no price"
		if e.infos[i].Priced {
			cost = fmt.Sprintf("$%.2f", v.Cost)
		}
		name := v.Name
		if name == "" {
			name = "-"
		}
		rows = append(rows, []string{name, fmt.Sprint(v.Trials), fmt.Sprintf("%.0f", v.Tokens), cost, v.By})
	}
	ui.Table(w, rows)
	if est.Baseline != "" {
		fmt.Fprintf(w, "compared with %s\n", est.Baseline)
	}
	if e.Limits.MaxCost > 0 {
		fmt.Fprintf(w, "stops before the cost exceeds $%.2f\n", e.Limits.MaxCost)
	}
	fmt.Fprintln(w, "dry run: nothing was executed")
}
