//go:build e2e

package attribute_test

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/pexctl/pex/internal/temporaltest"
	"github.com/pexctl/pex/providers/temporal/attribute"
)

// A real server accepts the attributes, and finds workflows by them.
func TestE2EAttributesOfARealServer(t *testing.T) {
	s := temporaltest.Start(t, "agents")
	c, err := client.NewLazyClient(client.Options{HostPort: s.Address(), Namespace: "agents"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	missing, ok := errors.AsType[*attribute.MissingError](attribute.Check(t.Context(), c.OperatorService(), "agents"))
	if !ok || len(missing.Missing) != len(attribute.All()) {
		t.Fatalf("a new namespace: %v", missing)
	}
	created := make(chan error)
	const processes = 4
	for range processes {
		go func() { created <- attribute.Create(t.Context(), c.OperatorService(), "agents") }()
	}
	for range processes {
		if err := <-created; err != nil {
			t.Error(err)
		}
	}
	if err := attribute.Check(t.Context(), c.OperatorService(), "agents"); err != nil {
		t.Fatal(err)
	}
	values := temporal.NewSearchAttributes(attribute.Agent.ValueSet("shop"), attribute.Tenant.ValueSet("t"), attribute.Waiting.ValueSet(true), attribute.CostUSD.ValueSet(0.25), attribute.Tokens.ValueSet(7))
	began := time.Now()
	until(t, "a workflow has the attributes", func() bool {
		_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "pex/t/r", TaskQueue: "pex", TypedSearchAttributes: values}, "pex.Run")
		if _, early := errors.AsType[*serviceerror.InvalidArgument](err); err != nil && !early {
			t.Fatal(err)
		}
		return err == nil
	})
	t.Logf("accepted after %s", time.Since(began).Round(time.Millisecond))
	query := "PexAgent = 'shop' AND PexTenant = 't' AND PexWaiting = true AND PexCostUSD > 0.2 AND PexTokens = 7"
	until(t, "the workflow is found", func() bool {
		r, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		return len(r.GetExecutions()) == 1
	})
	s.Kill()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := attribute.Check(t.Context(), c.OperatorService(), "agents"); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// until asks until the answer is yes.
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
