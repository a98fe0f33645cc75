package trial

import (
	"encoding/json"
	"iter"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// RowVersion is the version of rows: fields are only ever added.
const RowVersion = 1

// Key names a trial within an evaluation.
type Key struct {
	Case    string `json:"case"`
	Variant string `json:"variant,omitempty"` // "" = the suite has no variants
	Repeat  int    `json:"repeat"`            // from 1
}

// Outcome says how a trial ended.
type Outcome string

// The outcomes. Only passed and failed trials were graded.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Errored Outcome = "error"   // see model.ErrorKind: nothing is known of the agent
	Skipped Outcome = "skipped" // curtailed: the case's gate was decided without it
)

// ErrorKind is who is to blame for a trial that could not be graded.
type ErrorKind string

// The error kinds.
const (
	ProviderFault ErrorKind = "provider" // a model could not be reached or did not answer
	ToolFault     ErrorKind = "tool"     // a tool server is not there
	TimeoutFault  ErrorKind = "timeout"  // the trial's own time was up
	BudgetFault   ErrorKind = "budget"   // the evaluation's budget was used up under it
	GraderFault   ErrorKind = "grader"   // a check could not grade
	StoreFault    ErrorKind = "store"    // the disk is full, or a journal is damaged
	DriftFault    ErrorKind = "drift"    // a cassette holds no answer for what was asked
	InternalFault ErrorKind = "internal"
)

// Fault is why a trial could not be graded.
type Fault struct {
	Kind    ErrorKind `json:"kind"`
	Message string    `json:"message"`
}

// Row is a finished trial: all that grading it again, and every report, needs.
// One row is one line of rows.jsonl; the last row of a key counts.
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

// Run is what of a run's result a row keeps.
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
	Unpriced   []string          `json:"unpriced,omitempty"` // llms that were asked and have no price
	Prompts    []string          `json:"prompts,omitempty"`  // only where a check looks at trace.prompts
}

// Weight is the weight of the row's case.
func (r *Row) Weight() float64 {
	if r.CaseWeight == 0 {
		return 1
	}
	return r.CaseWeight
}

// Rows gives the rows of an evaluation that count, in the order of the dataset
// as far as trials ended in it; it may be ranged over several times. An error
// ends it.
type Rows func() iter.Seq2[*Row, error]

// Progress is how an evaluation that is under way stands.
type Progress struct {
	Trials, Total         int // finished of all; Total 0 = not known yet
	Passed, Failed, Error int
	InFlight              int
	Cost                  float64
	Tokens                int
	Elapsed               time.Duration
	Left                  time.Duration // 0 = not known
	Rate                  float64       // trials a second, of late
	Note                  string        // "waiting: rate limit", "curtailed 12"
}

// Unpriced lists the llms of a program that took tokens in a run and have no
// price: what the run cost is not known. A price of 0 is one.
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
