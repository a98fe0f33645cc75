package queue

import (
	"fmt"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/pexctl/pex/engine"
)

// PerSecond returns how many calls of a model the server may hand out each second to all workers
// together; 0 = no limit. Retries within a call and tokens are limited by each worker, as without Temporal.
func PerSecond(m *engine.ModelSpec) float64 { return float64(m.RateLimit.RequestsPerMinute) / 60 }

// limitedPollers is how many polls a worker has open at a queue with a limit. A server splits a
// queue into partitions, four by default, and its rate with it: a partition without a poll hands out nothing, and
// makes up for it in a burst. Measured with two workers and 20 calls per second: with 2 polls each 14 per
// second in bursts up to 56, with 8 from 2 to 183, with 16 from 19.8 to 20.1.
const limitedPollers = 16

// Limit sets the options of a worker for a queue with a limit per second, 0 = none.
func Limit(o *worker.Options, perSecond float64) {
	if perSecond > 0 {
		o.TaskQueueActivitiesPerSecond, o.MaxConcurrentActivityTaskPollers = perSecond, limitedPollers
	}
}

// ConflictError reports that programs have llms of the same name with different limits. The server
// stores one limit per queue, so the last worker to start would decide.
type ConflictError struct {
	LLM            string
	First, Second  string // names of the programs
	Limit, Another int    // requests per minute; 0 = none
}

// Error names the programs and their limits.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the llm %s has rate_limit.requests_per_minute %s in %s and %s in %s, but both share the task queue %s; use the same limit, or rename one of the llms",
		e.LLM, perMinute(e.Limit), e.First, perMinute(e.Another), e.Second, LLM(e.LLM))
}

func perMinute(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// Limits returns the llm queues of programs and of the agents they call, with their limits per
// second, 0 = none. The error is a *ConflictError.
func Limits(programs ...*engine.Program) (map[string]float64, error) {
	l := limits{perSecond: map[string]float64{}, first: map[string]use{}}
	if err := l.add(programs); err != nil {
		return nil, err
	}
	return l.perSecond, nil
}

// use is a limit per minute, and the program that has it.
type use struct {
	program string
	limit   int
}

type limits struct {
	perSecond map[string]float64 // by queue
	first     map[string]use     // by llm
}

func (l *limits) add(programs []*engine.Program) error {
	for _, p := range programs {
		for i := range p.Models {
			m := &p.Models[i]
			now := use{p.Name, m.RateLimit.RequestsPerMinute}
			first, ok := l.first[m.Name]
			if ok && first.limit != now.limit {
				return &ConflictError{LLM: m.Name, First: first.program, Second: p.Name, Limit: first.limit, Another: now.limit}
			}
			if !ok {
				l.first[m.Name], l.perSecond[LLM(m.Name)] = now, PerSecond(m)
			}
		}
		if err := l.add(p.Agents); err != nil {
			return err
		}
	}
	return nil
}

// maxFairnessKey is the maximum length of a fairness key.
const maxFairnessKey = 64

// Share returns the priority of the work of a tenant, with which the tenants of a queue take turns.
// The server does so if its setting matching.enableFairness is on.
func Share(tenant string) temporal.Priority {
	if len(tenant) > maxFairnessKey || !utf8.ValidString(tenant) {
		tenant = "~" + hash(tenant)
	}
	return temporal.Priority{FairnessKey: tenant}
}
