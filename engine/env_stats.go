package engine

// StatsEnv is `stats` and `baseline` of gates: what a batch evaluation comes
// to. Rates are of cases: a case's rate is its passed trials by its graded
// ones, and PassRate is their weighted mean. Trials that ended in an error were
// not graded; they are counted in Errors and in no rate.
type StatsEnv struct {
	N         int                   `expr:"n" json:"n"`                 // cases with a graded trial
	Trials    int                   `expr:"trials" json:"trials"`       // finished, errors included
	Passed    int                   `expr:"passed" json:"passed"`       // trials
	Failed    int                   `expr:"failed" json:"failed"`       // trials
	Errors    int                   `expr:"errors" json:"errors"`       // trials
	Flaky     int                   `expr:"flaky" json:"flaky"`         // cases that passed and failed
	PassRate  float64               `expr:"pass_rate" json:"pass_rate"` // 0 to 1
	CILow     float64               `expr:"ci_low" json:"ci_low"`       // 95 % interval of PassRate
	CIHigh    float64               `expr:"ci_high" json:"ci_high"`
	Score     float64               `expr:"score" json:"score"` // weighted mean of the trials' scores
	Cost      SpreadEnv             `expr:"cost" json:"cost"`   // USD a trial
	Latency   SpreadEnv             `expr:"latency" json:"latency"`
	Tokens    SpreadEnv             `expr:"tokens" json:"tokens"`     // in and out, a trial
	PassAt    map[string]float64    `expr:"pass_at" json:"pass_at"`   // "1", "2", ...: at least one of k trials passes
	PassAll   map[string]float64    `expr:"pass_all" json:"pass_all"` // pass^k: all of k trials pass
	ByGroup   map[string]GroupStats `expr:"by_group" json:"by_group"` // by the dataset's group
	ByVariant map[string]GroupStats `expr:"by_variant" json:"by_variant"`
	ByCheck   map[string]GroupStats `expr:"by_check" json:"by_check"` // trials that met each check
}

// GroupStats is what a part of a batch comes to.
type GroupStats struct {
	N        int     `expr:"n" json:"n"`
	Trials   int     `expr:"trials" json:"trials"`
	Passed   int     `expr:"passed" json:"passed"`
	Errors   int     `expr:"errors" json:"errors"`
	PassRate float64 `expr:"pass_rate" json:"pass_rate"`
	CILow    float64 `expr:"ci_low" json:"ci_low"`
	CIHigh   float64 `expr:"ci_high" json:"ci_high"`
}

// SpreadEnv is how a figure is spread over trials; latency is in seconds.
type SpreadEnv struct {
	Mean  float64 `expr:"mean" json:"mean"`
	P50   float64 `expr:"p50" json:"p50"`
	P95   float64 `expr:"p95" json:"p95"`
	Total float64 `expr:"total" json:"total"`
}

// CaseEnv is `case` in gates that look at each case of each variant.
type CaseEnv struct {
	ID       string  `expr:"id" json:"id"`
	Variant  string  `expr:"variant" json:"variant,omitempty"`
	Group    string  `expr:"group" json:"group,omitempty"`
	N        int     `expr:"n" json:"n"`           // graded trials
	Passed   int     `expr:"passed" json:"passed"` // of them
	Errors   int     `expr:"errors" json:"errors"` // trials that could not be graded
	PassRate float64 `expr:"pass_rate" json:"pass_rate"`
	CILow    float64 `expr:"ci_low" json:"ci_low"` // Wilson, 95 %
	CIHigh   float64 `expr:"ci_high" json:"ci_high"`
	Score    float64 `expr:"score" json:"score"`
	Flaky    bool    `expr:"flaky" json:"flaky"`
}
