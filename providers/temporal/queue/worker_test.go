package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pexctl/pex/providers/temporal/queue"
)

// service has workers that poll.
type service struct {
	workflowservice.WorkflowServiceClient
	workers []*taskqueue.PollerInfo
}

func (s service) DescribeTaskQueue(context.Context, *workflowservice.DescribeTaskQueueRequest, ...grpc.CallOption) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{Pollers: s.workers}, nil
}

func TestWorkersOfAQueueMustAgreeOnItsLimit(t *testing.T) {
	now := time.Unix(1e9, 0)
	worker := func(ago time.Duration, rate float64) *taskqueue.PollerInfo {
		return &taskqueue.PollerInfo{Identity: "7@host", RatePerSecond: rate, LastAccessTime: timestamppb.New(now.Add(-ago))}
	}
	check := func(limit float64, workers ...*taskqueue.PollerInfo) error {
		return queue.CheckWorkers(t.Context(), service{workers: workers}, "default", "pex.llm.main", limit, now)
	}
	for name, err := range map[string]error{
		"none":           check(20),
		"the same limit": check(20, worker(time.Second, 20)),
		"no limit":       check(0, worker(time.Second, 100_000)),
		"a past one":     check(20, worker(2*time.Minute, 10)),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const want = "the worker 7@host of the task queue pex.llm.main has 600 calls per minute, this one has no limit; start all workers with the same rate_limit.requests_per_minute, or stop the other ones first"
	if err := check(0, worker(time.Minute, 10)); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, ok := errors.AsType[*queue.WorkerError](check(20, worker(time.Second, 20), worker(time.Minute, 100_000))); !ok {
		t.Error("a worker without a limit was not found")
	}
}
