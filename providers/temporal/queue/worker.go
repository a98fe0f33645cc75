package queue

import (
	"context"
	"fmt"
	"math"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// pollTime is how long a worker may be silent and still count: a poll takes up to a minute.
const pollTime = 70 * time.Second

// unlimited is the limit that workers without a limit report.
const unlimited = 100_000

// WorkerError reports that another worker has another limit for a queue. The server uses that of
// the worker that polled last.
type WorkerError struct {
	Queue          string
	Worker         string // identity of the other worker
	Limit, Another float64
}

// Error names the worker and both limits.
func (e *WorkerError) Error() string {
	return fmt.Sprintf("the worker %s of the task queue %s has %s, this one has %s; start all workers with the same rate_limit.requests_per_minute, or stop the other ones first",
		e.Worker, e.Queue, inWords(e.Another), inWords(e.Limit))
}

func inWords(n float64) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%g calls per minute", math.Round(n*60))
}

// CheckWorkers makes sure that all workers of a queue that polled in the last minute before now have a limit per
// second, 0 = none. The error may be a *WorkerError.
func CheckWorkers(ctx context.Context, service workflowservice.WorkflowServiceClient, namespace, queue string, limit float64, now time.Time) error {
	r, err := service.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: namespace, TaskQueue: &taskqueue.TaskQueue{Name: queue}, TaskQueueType: enums.TASK_QUEUE_TYPE_ACTIVITY,
	})
	if err != nil {
		return fmt.Errorf("describe the task queue %s: %w", queue, err)
	}
	for _, p := range r.GetPollers() {
		other := p.GetRatePerSecond()
		if other >= unlimited {
			other = 0
		}
		if now.Sub(p.GetLastAccessTime().AsTime()) < pollTime && math.Abs(other-limit) > 1e-6 {
			return &WorkerError{Queue: queue, Worker: p.GetIdentity(), Limit: limit, Another: other}
		}
	}
	return nil
}
