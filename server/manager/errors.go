package manager

import (
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/costbound"
)

// ErrQueueFull reports that too many runs wait for their turn. Nothing was started.
var ErrQueueFull = errors.New("too many runs are waiting")

// RateError reports that a tenant started too many runs. Nothing was started.
type RateError struct{ RetryAfter time.Duration }

// Error returns the message with the time until the next run may start.
func (e *RateError) Error() string {
	return fmt.Sprintf("too many runs were started; try again in %s", e.RetryAfter.Round(time.Second))
}

// QuotaError reports that a run may cost more than is left of the limit of its tenant for the
// day. Nothing was started.
type QuotaError struct {
	Usage Usage
	Most  float64 // USD that the run may cost
}

// Error returns the message with the amounts.
func (e *QuotaError) Error() string {
	u := &e.Usage
	text := fmt.Sprintf("the run may cost up to %s, and %s of the %s for today is left", usd(e.Most), usd(u.Left()), usd(u.Limit))
	if u.Reserved > 0 {
		text += fmt.Sprintf(" (%s is reserved by runs that have not ended)", usd(u.Reserved))
	}
	return text
}

// RetryAfter returns when a run of this cost may fit: at the end of the day, or earlier if
// runs that have not ended give back what they reserve.
func (e *QuotaError) RetryAfter() time.Duration {
	left := time.Until(e.Usage.Renews)
	if e.Most <= e.Usage.Limit-e.Usage.Spent {
		return min(left, time.Minute)
	}
	return left
}

// CostLimitError reports that the most that a run may cost is unknown, or more than the limit
// of its tenant for a whole day. Nothing was started.
type CostLimitError struct {
	Agent string // name of its spec
	Most  costbound.Money
	Limit float64 // USD
}

// Error returns the message and what to change.
func (e *CostLimitError) Error() string {
	if e.Most.Known() {
		return fmt.Sprintf("the run may cost up to %s, more than the %s per day of this tenant; lower limits.max_cost", usd(e.Most.Most), usd(e.Limit))
	}
	return fmt.Sprintf("the maximum cost of %s is unknown (%s), and this server limits the cost per day; set limits.max_cost, which needs the price of each LLM", e.Agent, e.Most.Unbounded)
}

func usd(amount float64) string { return fmt.Sprintf("$%.4f", amount) }

// ErrClosing reports that the process is shutting down. Nothing was changed.
var ErrClosing = errors.New("the server is shutting down")

// MismatchError reports that a run with the id of a request exists, and that another
// request started it.
type MismatchError struct{ Run string }

// Error returns the message with the run.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("run %s was started by another request", e.Run)
}

// BusyError reports that a conversation has a run that has not ended.
type BusyError struct{ MemoryID, Run string }

// Error returns the message with the conversation and the run.
func (e *BusyError) Error() string {
	return fmt.Sprintf("run %s of conversation %s has not ended", e.Run, e.MemoryID)
}

// RunningError reports that a run executes or is queued.
type RunningError struct{ Run string }

// Error returns the message with the run.
func (e *RunningError) Error() string { return fmt.Sprintf("run %s is running", e.Run) }

// DecidedError reports that a question has been answered before.
type DecidedError struct {
	Run      string
	Decision engine.DecisionRecord
}

// Error returns the message with the question, the decision and its author.
func (e *DecidedError) Error() string {
	by := "someone"
	if e.Decision.By != nil {
		by = e.Decision.By.String()
	}
	return fmt.Sprintf("%s was already decided: %s, by %s", e.Decision.Path, e.Decision.Do, by)
}

// NotOpenError reports that a run has no open question at a path.
type NotOpenError struct{ Run, Path string }

// Error returns the message with the run and the path.
func (e *NotOpenError) Error() string {
	return fmt.Sprintf("run %s has no open question at %s", e.Run, e.Path)
}

// ChangedError reports that an answer is for another question than the one that is open.
type ChangedError struct{ Run, Path string }

// Error returns the message with the run and the path.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("the question of run %s at %s has changed", e.Run, e.Path)
}
