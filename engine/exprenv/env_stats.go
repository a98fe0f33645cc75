package exprenv

// Stats is `stats` and `baseline` in gates: the results of a batch evaluation. Rates are
// by case: a case's rate is its passed trials divided by its graded ones, and PassRate is
// their weighted mean. Trials that ended in an error are not graded; they count in Errors
// and in no rate.
type Stats struct {
	N         int                   `expr:"n" json:"n" doc:"The number of cases with a graded trial."`
	Trials    int                   `expr:"trials" json:"trials" doc:"The number of trials that ended, including errors."`
	Passed    int                   `expr:"passed" json:"passed" doc:"The number of trials that passed."`
	Failed    int                   `expr:"failed" json:"failed" doc:"The number of trials that failed."`
	Errors    int                   `expr:"errors" json:"errors" doc:"The number of trials that could not be graded."`
	Flaky     int                   `expr:"flaky" json:"flaky" doc:"The number of flaky cases: some trials passed, others failed."`
	PassRate  float64               `expr:"pass_rate" json:"pass_rate" doc:"The pass rate, averaged over cases: from 0 to 1."`
	CILow     float64               `expr:"ci_low" json:"ci_low" doc:"The lower bound of the 95% confidence interval of pass_rate."`
	CIHigh    float64               `expr:"ci_high" json:"ci_high" doc:"The upper bound of the 95% confidence interval of pass_rate."`
	Score     float64               `expr:"score" json:"score" doc:"The weighted mean of the scores of trials."`
	Cost      Spread                `expr:"cost" json:"cost" doc:"The cost per trial, in USD."`
	Latency   Spread                `expr:"latency" json:"latency" doc:"The time per trial, in seconds."`
	Tokens    Spread                `expr:"tokens" json:"tokens" doc:"The tokens per trial, input and output."`
	PassAt    map[string]float64    `expr:"pass_at" json:"pass_at" doc:"pass@k by k: the probability that at least one of k trials passes. The keys are strings."`
	PassAll   map[string]float64    `expr:"pass_all" json:"pass_all" doc:"pass^k by k: the probability that all of k trials pass. The keys are strings."`
	ByGroup   map[string]GroupStats `expr:"by_group" json:"by_group" doc:"The same statistics by group of the dataset."`
	ByVariant map[string]GroupStats `expr:"by_variant" json:"by_variant" doc:"The same statistics by variant."`
	ByCheck   map[string]GroupStats `expr:"by_check" json:"by_check" doc:"The pass rate of each check, by name."`
	ByCase    map[string]Case       `expr:"by_case" json:"-" doc:"Each case, by id, with the trials of all variants."`
}

// GroupStats are the results of a part of a batch.
type GroupStats struct {
	N        int     `expr:"n" json:"n" doc:"The number of cases with a graded trial."`
	Trials   int     `expr:"trials" json:"trials" doc:"The number of trials that ended, including errors."`
	Passed   int     `expr:"passed" json:"passed" doc:"The number of trials that passed."`
	Errors   int     `expr:"errors" json:"errors" doc:"The number of trials that could not be graded."`
	PassRate float64 `expr:"pass_rate" json:"pass_rate" doc:"The share of trials that passed, from 0 to 1."`
	CILow    float64 `expr:"ci_low" json:"ci_low" doc:"The lower bound of the 95% confidence interval of pass_rate."`
	CIHigh   float64 `expr:"ci_high" json:"ci_high" doc:"The upper bound of the 95% confidence interval of pass_rate."`
}

// Spread is the distribution of a quantity over trials; latency is in seconds.
type Spread struct {
	Mean  float64 `expr:"mean" json:"mean" doc:"The mean."`
	P50   float64 `expr:"p50" json:"p50" doc:"The median."`
	P95   float64 `expr:"p95" json:"p95" doc:"The 95th percentile."`
	Total float64 `expr:"total" json:"total" doc:"The sum of all trials."`
}

// Case is `case` in gates for each case of each variant.
type Case struct {
	ID       string  `expr:"id" json:"id" doc:"The id of the case."`
	Variant  string  `expr:"variant" json:"variant,omitempty" doc:"The name of the variant."`
	Group    string  `expr:"group" json:"group,omitempty" doc:"The group of the case in the dataset."`
	N        int     `expr:"n" json:"n" doc:"The number of graded trials."`
	Passed   int     `expr:"passed" json:"passed" doc:"The number of trials that passed."`
	Errors   int     `expr:"errors" json:"errors" doc:"The number of trials that could not be graded."`
	PassRate float64 `expr:"pass_rate" json:"pass_rate" doc:"The share of graded trials that passed, from 0 to 1."`
	CILow    float64 `expr:"ci_low" json:"ci_low" doc:"The lower bound of the 95% confidence interval of pass_rate."`
	CIHigh   float64 `expr:"ci_high" json:"ci_high" doc:"The upper bound of the 95% confidence interval of pass_rate."`
	Score    float64 `expr:"score" json:"score" doc:"The mean of the scores of its trials."`
	Flaky    bool    `expr:"flaky" json:"flaky" doc:"Whether some of its trials passed and others failed."`
}
