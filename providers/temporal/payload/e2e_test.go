//go:build e2e

package payload_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/internal/temporaltest"
	"github.com/pexctl/pex/providers/temporal/payload"
)

const secretWords = "the secret words of a prompt"

// counted counts the operations of a blob store.
type counted struct {
	blob.Store
	puts, gets atomic.Int64
}

func (c *counted) Put(ctx context.Context, content []byte) (blob.Ref, error) {
	c.puts.Add(1)
	return c.Store.Put(ctx, content)
}

func (c *counted) Get(ctx context.Context, ref blob.Ref) ([]byte, error) {
	c.gets.Add(1)
	return c.Store.Get(ctx, ref)
}

// large returns n bytes that contain the secret words and cannot be compressed.
func large(n int) []byte { return append([]byte(secretWords), noise(n)...) }

// relay is a workflow that passes its input through activities, and then waits for a message.
func relay(codec *payload.Codec) func(workflow.Context, []byte) ([]byte, error) {
	return func(ctx workflow.Context, input []byte) ([]byte, error) {
		if err := workflow.SetUpdateHandler(codec.HandlerContext(ctx), "update", func(_ workflow.Context, in []byte) ([]byte, error) { return in, nil }); err != nil {
			return nil, err
		}
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
		for range 4 {
			if err := workflow.ExecuteActivity(ctx, "echo", input).Get(ctx, &input); err != nil {
				return nil, err
			}
		}
		err := workflow.ExecuteActivity(ctx, "fail").Get(ctx, nil)
		if e, ok := errors.AsType[*temporal.ApplicationError](err); !ok || e.Message() != secretWords {
			return nil, fmt.Errorf("the activity failed with %w", err)
		}
		var message []byte
		workflow.GetSignalChannel(ctx, "message").Receive(ctx, &message)
		return append(input[:len(secretWords):len(secretWords)], message...), nil
	}
}

func work(t *testing.T, c client.Client, codec *payload.Codec) worker.Worker {
	t.Helper()
	o := worker.Options{}
	codec.ConfigureWorker(&o)
	w := worker.New(c, "queue", o)
	w.RegisterWorkflowWithOptions(relay(codec), workflow.RegisterOptions{Name: "relay"})
	w.RegisterActivityWithOptions(func(in []byte) ([]byte, error) { return in, nil }, activity.RegisterOptions{Name: "echo"})
	w.RegisterActivityWithOptions(func() error { return errors.New(secretWords) }, activity.RegisterOptions{Name: "fail"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func connectTo(t *testing.T, s *temporaltest.Server, codec *payload.Codec) client.Client {
	t.Helper()
	o := client.Options{HostPort: s.Address(), Logger: silent{}}
	if codec != nil {
		if err := codec.Configure(&o); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// shown is all that the server has of a workflow.
func shown(t *testing.T, c client.Client, id string) string {
	t.Helper()
	var all strings.Builder
	for events := c.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(e.String() + "\n")
	}
	return all.String()
}

// TestE2EPayloadsOnARealServer runs a workflow with payloads of 2.5 MB without a cache of workflows, so that each task
// replays the whole history: payloads are encoded once, and the server sees nothing of them.
func TestE2EPayloadsOnARealServer(t *testing.T) {
	worker.SetStickyWorkflowCacheSize(0)
	server := temporaltest.Start(t)
	store := &counted{Store: blob.NewDir(t.TempDir())}
	codec := payload.New(payload.Options{Keys: ring(t, "a:"+keyA), Store: store})
	c := connectTo(t, server, codec)
	work(t, c, codec)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "queue", ID: "relay"}, "relay", large(2_500_000))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SignalWorkflow(t.Context(), "relay", "", "message", []byte(", delivered")); err != nil {
		t.Fatal(err)
	}
	var got []byte
	if err := run.Get(t.Context(), &got); err != nil || string(got) != secretWords+", delivered" {
		t.Fatalf("got %.100q, %v", got, err)
	}
	// The input of the workflow, and inputs and results of four activities.
	if puts := store.puts.Load(); puts != 9 {
		t.Errorf("%d blobs were put, want 9", puts)
	}
	t.Logf("%d blobs were put and %d read", store.puts.Load(), store.gets.Load())
	history := shown(t, connectTo(t, server, nil), "relay")
	if strings.Contains(history, secretWords) || strings.Contains(history, "binary/plain") || !strings.Contains(history, "binary/pex") {
		t.Errorf("the server has %.3000s", history)
	}
	if len(history) > 100_000 {
		t.Errorf("the history has %d bytes", len(history))
	}
}

// TestE2EWorkerWithAnotherKeyLosesNothing starts a workflow that the first worker cannot read, and sends it a message.
func TestE2EWorkerWithAnotherKeyLosesNothing(t *testing.T) {
	worker.SetStickyWorkflowCacheSize(0)
	server := temporaltest.Start(t)
	store := blob.NewDir(t.TempDir())
	right := payload.New(payload.Options{Keys: ring(t, "a:"+keyA), Store: store})
	wrong := payload.New(payload.Options{Keys: ring(t, "a:"+keyB), Store: store})
	c := connectTo(t, server, right)
	w := work(t, connectTo(t, server, wrong), wrong)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "queue", ID: "relay"}, "relay", large(200_000))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SignalWorkflow(t.Context(), "relay", "", "message", []byte(", kept")); err != nil {
		t.Fatal(err)
	}
	raw := connectTo(t, server, nil)
	for !strings.Contains(shown(t, raw, "relay"), "EVENT_TYPE_WORKFLOW_TASK_FAILED") {
		if t.Context().Err() != nil {
			t.Fatal("no task failed")
		}
	}
	if failed := shown(t, raw, "relay"); !strings.Contains(failed, "key a in PEX_KEYS is not the key of this name") || strings.Contains(failed, "ACTIVITY_TASK") {
		t.Errorf("the history is %.3000s", failed)
	}
	w.Stop()
	work(t, c, right)
	var got []byte
	if err := run.Get(t.Context(), &got); err != nil || !bytes.Equal(got, []byte(secretWords+", kept")) {
		t.Fatalf("got %.100q, %v", got, err)
	}
}

// TestE2EUpdateWithAnotherKeyIsRejected sends a workflow an update that it cannot read.
func TestE2EUpdateWithAnotherKeyIsRejected(t *testing.T) {
	server := temporaltest.Start(t)
	right := payload.New(payload.Options{Keys: ring(t, "a:"+keyA)})
	wrong := payload.New(payload.Options{Keys: ring(t, "b:"+keyB)})
	c := connectTo(t, server, right)
	work(t, c, right)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "queue", ID: "relay"}, "relay", []byte(secretWords))
	if err != nil {
		t.Fatal(err)
	}
	update := func(c client.Client, in string) (out []byte, err error) {
		h, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: "relay", UpdateName: "update", Args: []any{[]byte(in)}, WaitForStage: client.WorkflowUpdateStageCompleted})
		if err == nil {
			err = h.Get(t.Context(), &out)
		}
		return out, err
	}
	if out, err := update(connectTo(t, server, wrong), "x"); err == nil {
		t.Errorf("the update returned %q", out)
	}
	if out, err := update(c, "y"); err != nil || string(out) != "y" {
		t.Errorf("the update returned %q, %v", out, err)
	}
	if err := c.SignalWorkflow(t.Context(), "relay", "", "message", []byte("!")); err != nil {
		t.Fatal(err)
	}
	var got []byte
	if err := run.Get(t.Context(), &got); err != nil || string(got) != secretWords+"!" {
		t.Errorf("got %q, %v", got, err)
	}
}
