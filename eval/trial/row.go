package trial

import (
	"encoding/json"
	"iter"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// RowVersion is the version of rows. Fields are only ever added.
const RowVersion = 1

// Key identifies a trial within an evaluation.
type Key struct {
	Case    string `json:"case"`
	Variant string `json:"variant,omitempty"` // "" = the suite has no variants
	Repeat  int    `json:"repeat"`            // from 1
}

// Outcome is how a trial ended.
type Outcome string

// The outcomes. Only passed and failed trials were graded.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Errored Outcome = "error"   // see ErrorKind: the agent could not be judged
	Skipped Outcome = "skipped" // not needed: the case's gate was decided without it
)

// ErrorKind is why a trial could not be graded.
type ErrorKind string

// The error kinds.
const (
	ProviderFault ErrorKind = "provider" // a model could not be reached or did not answer
	ToolFault     ErrorKind = "tool"     // a tool server is unavailable
	TimeoutFault  ErrorKind = "timeout"  // the trial timed out
	BudgetFault   ErrorKind = "budget"   // the evaluation's budget was used up during the trial
	GraderFault   ErrorKind = "grader"   // a check could not grade
	StorageFault  ErrorKind = "store"    // the disk is full, or a journal is damaged
	DriftFault    ErrorKind = "drift"    // a cassette has no reply for a request
	InternalFault ErrorKind = "internal"
)

// Fault is why a trial could not be graded.
type Fault struct {
	Kind    ErrorKind `json:"kind"`
	Message string    `json:"message"`
}

// Row is a finished trial with everything needed to grade it again and for reports. One
// row is one line of rows.jsonl; the last row of a key counts.
type Row struct {
	V int `json:"v"`
	Key
	Line       int            `json:"line,omitempty"` // of the case in its dataset
	Group      string         `json:"group,omitempty"`
	Tags       []string       `json:"tags,omitempty"`
	CaseWeight float64        `json:"case_weight,omitempty"` // 0 = 1
	Input      map[string]any `json:"input,omitempty"`       // the row of the dataset
	Parameters map[string]any `json:"parameters,omitempty"`  // of the run
	Outcome    Outcome        `json:"outcome"`
	Score      float64        `json:"score"` // weighted mean of the marks
	Fault      *Fault         `json:"fault,omitempty"`
	Marks      []Mark         `json:"marks,omitempty"`
	Run        Run            `json:"run"`
	At         time.Time      `json:"at"` // when it ended
}

// Run is the part of a run's result that a row stores.
type Run struct {
	ID         string            `json:"id"`
	Status     stop.RunStatus    `json:"status"`
	StopReason stop.Reason       `json:"stop_reason"`
	Response   string            `json:"response"`
	Output     json.RawMessage   `json:"output,omitempty"`
	Plan       plan.Plan         `json:"plan"`
	Steps      []plan.StepRecord `json:"steps,omitempty"`
	Replans    int               `json:"replans,omitempty"`
	Tokens     int               `json:"tokens"`
	Cost       float64           `json:"cost_usd"`
	ModelCalls int               `json:"model_calls"`
	ToolCalls  int               `json:"tool_calls"`
	LatencyMS  float64           `json:"latency_ms"`
	Warnings   []string          `json:"warnings,omitempty"`
	Unpriced   []string          `json:"unpriced,omitempty"` // LLMs that were called and have no price
	Prompts    []string          `json:"prompts,omitempty"`  // only if a check uses trace.prompts
}

// Weight returns the weight of the row's case.
func (r *Row) Weight() float64 {
	if r.CaseWeight == 0 {
		return 1
	}
	return r.CaseWeight
}

// Rows iterates over the current rows of an evaluation, roughly in dataset order; it may
// be used several times. An error ends the iteration.
type Rows func() iter.Seq2[*Row, error]

// Progress is the progress of an evaluation.
type Progress struct {
	Trials, Total         int // finished of all; Total 0 = not known yet
	Passed, Failed, Error int
	InFlight              int
	Cost                  float64
	Tokens                int
	Elapsed               time.Duration
	Left                  time.Duration // 0 = unknown
	Rate                  float64       // recent trials per second
	Note                  string        // "waiting: rate limit", "curtailed 12"
}

// Unpriced returns the LLMs that used tokens in a run and have no price, so that the
// run's cost is unknown. A price of 0 is a price.
func Unpriced(p *engine.Program, u *engine.Usage) []string {
	var out []string
	for i := range p.Models {
		m := &p.Models[i]
		if spent := u.ByModel[m.Name]; m.Cost == nil && spent.Total() > 0 {
			out = append(out, m.Name)
		}
	}
	return out
}
