//go:build e2e

package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/internal/temporaltest"
	"github.com/pexctl/pex/providers/temporal/queue"
)

// calls notes when the calls of tenants began.
type calls struct {
	mu      sync.Mutex
	times   []time.Time
	tenants []string
}

func (c *calls) call(_ context.Context, tenant string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times, c.tenants = append(c.times, time.Now()), append(c.tenants, tenant)
	return nil
}

// manyCalls calls a model n times at once, for a tenant.
func manyCalls(ctx workflow.Context, llm, tenant string, n int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queue.LLM(llm), Priority: queue.Share(tenant), StartToCloseTimeout: time.Minute, DisableEagerExecution: true,
	})
	var all []workflow.Future
	for range n {
		all = append(all, workflow.ExecuteActivity(ctx, "call", tenant))
	}
	for _, f := range all {
		if err := f.Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// world is a server with a worker for workflows.
func world(t *testing.T) (client.Client, *calls) {
	t.Helper()
	s := temporaltest.Start(t)
	c, err := client.NewLazyClient(client.Options{HostPort: s.Address()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := worker.New(c, queue.Workflow, worker.Options{})
	w.RegisterWorkflow(manyCalls)
	begin(t, w)
	return c, &calls{}
}

func begin(t *testing.T, w worker.Worker) {
	t.Helper()
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

// caller starts a worker that calls models.
func caller(t *testing.T, c client.Client, at *calls, llm string, o worker.Options) {
	t.Helper()
	w := worker.New(c, queue.LLM(llm), o)
	w.RegisterActivityWithOptions(at.call, activity.RegisterOptions{Name: "call"})
	begin(t, w)
}

func start(t *testing.T, c client.Client, args ...any) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: fmt.Sprint(args...), TaskQueue: queue.Workflow}, manyCalls, args...)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Two workers share the rate of a queue, which the server enforces.
func TestE2ETheRateOfAQueueIsThatOfAllWorkers(t *testing.T) {
	c, at := world(t)
	const perSecond, n = 20, 280
	var o worker.Options
	queue.Limit(&o, perSecond)
	for range 2 {
		caller(t, c, at, "main", o)
	}
	if err := start(t, c, "main", "t", n).Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	const from, to = 100, 240 // at first the buckets are full, and at the end some partitions are empty
	rate := (to - from) / at.times[to].Sub(at.times[from]).Seconds()
	t.Logf("calls by two workers: the first %d in %s, then %.1f per second", from, at.times[from].Sub(at.times[0]).Round(time.Millisecond), rate)
	if rate < 0.9*perSecond || rate > 1.02*perSecond {
		t.Errorf("%.1f calls per second, want 18 to 20", rate)
	}
	check := func(limit float64) error {
		return queue.CheckWorkers(t.Context(), c.WorkflowService(), client.DefaultNamespace, queue.LLM("main"), limit, time.Now())
	}
	if err := check(perSecond); err != nil {
		t.Errorf("a worker with the same limit: %v", err)
	}
	for _, other := range []float64{0, 10} {
		if _, ok := errors.AsType[*queue.WorkerError](check(other)); !ok {
			t.Errorf("a worker with the limit %v is not refused", other)
		}
	}
}

// A worker without a limit reports the SDK's own, which means none.
func TestE2EAWorkerWithoutALimit(t *testing.T) {
	c, at := world(t)
	caller(t, c, at, "main", worker.Options{})
	if err := start(t, c, "main", "t", 1).Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := queue.CheckWorkers(t.Context(), c.WorkflowService(), client.DefaultNamespace, queue.LLM("main"), 0, time.Now()); err != nil {
		t.Error(err)
	}
}

// A tenant with few calls does not wait behind all calls of another.
func TestE2ETenantsTakeTurns(t *testing.T) {
	c, at := world(t)
	const many, few = 100, 10
	first := start(t, c, "main", "many", many)
	second := start(t, c, "main", "few", few)
	until(t, "all calls wait", func() bool { return waiting(t, c, queue.LLM("main")) == many+few })
	caller(t, c, at, "main", worker.Options{TaskQueueActivitiesPerSecond: 50, MaxConcurrentActivityExecutionSize: 1})
	for _, run := range []client.WorkflowRun{first, second} {
		if err := run.Get(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	last := 0
	for i, tenant := range at.tenants {
		if tenant == "few" {
			last = i + 1
		}
	}
	t.Logf("the last of %d calls of a tenant was number %d of all %d", few, last, len(at.tenants))
	if last > many/2 || slices.Index(at.tenants, "few") < 0 {
		t.Errorf("the last call of the small tenant was number %d: %v", last, at.tenants)
	}
}

func until(t *testing.T, what string, yes func() bool) {
	t.Helper()
	deadline, tick := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

// waiting returns how many calls wait on a queue.
func waiting(t *testing.T, c client.Client, name string) int64 {
	t.Helper()
	d, err := c.WorkflowService().DescribeTaskQueue(t.Context(), &workflowservice.DescribeTaskQueueRequest{
		Namespace: client.DefaultNamespace, TaskQueue: &taskqueue.TaskQueue{Name: name}, TaskQueueType: enums.TASK_QUEUE_TYPE_ACTIVITY, ReportStats: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d.GetStats().GetApproximateBacklogCount()
}
