//go:build e2e

package temporaltest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/internal/temporaltest"
)

// dialed returns a client of a namespace.
func dialed(t *testing.T, s *temporaltest.Server, namespace string) client.Client {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{HostPort: s.Address(), Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// waitThenDouble waits for a signal, and then doubles a number.
func waitThenDouble(ctx workflow.Context, n int) (int, error) {
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	err := workflow.ExecuteActivity(ctx, "double", n).Get(ctx, &n)
	return n, err
}

// work starts a worker until the test ends.
func work(t *testing.T, c client.Client) {
	t.Helper()
	w := worker.New(c, "q", worker.Options{})
	w.RegisterWorkflow(waitThenDouble)
	w.RegisterActivityWithOptions(func(_ context.Context, n int) (int, error) { return 2 * n, nil }, activity.RegisterOptions{Name: "double"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

func TestE2EWorkflowsSurviveTheServer(t *testing.T) {
	s := temporaltest.Start(t)
	c := dialed(t, s, "default")
	work(t, c)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "w", TaskQueue: "q"}, waitThenDouble, 21)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s.Kill()
		began := time.Now()
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		t.Logf("restarted in %s", time.Since(began).Round(time.Millisecond))
	}
	if err := c.SignalWorkflow(t.Context(), "w", "", "go", nil); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := run.Get(t.Context(), &n); err != nil || n != 42 {
		t.Errorf("got %d %v", n, err)
	}
	if s.Kills() != 3 {
		t.Errorf("%d kills", s.Kills())
	}
}

func TestE2ENamespacesAreApart(t *testing.T) {
	s := temporaltest.Start(t, "one", "two")
	if _, err := dialed(t, s, "one").ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "w", TaskQueue: "q"}, waitThenDouble, 1); err != nil {
		t.Fatal(err)
	}
	_, err := dialed(t, s, "two").DescribeWorkflowExecution(t.Context(), "w", "")
	if _, ok := errors.AsType[*serviceerror.NotFound](err); !ok {
		t.Errorf("the workflow of another namespace: %v", err)
	}
	_, err = dialed(t, s, "three").DescribeWorkflowExecution(t.Context(), "w", "")
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); !ok {
		t.Errorf("a missing namespace: %v", err)
	}
}
