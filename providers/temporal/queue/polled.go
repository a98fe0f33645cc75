package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// Pollers returns the identities of the workers that polled a queue in the last minute before now:
// Workflow for runs, and every other queue for calls.
func Pollers(ctx context.Context, service workflowservice.WorkflowServiceClient, namespace, queue string, now time.Time) (identities []string, err error) {
	typ := enums.TASK_QUEUE_TYPE_ACTIVITY
	if queue == Workflow {
		typ = enums.TASK_QUEUE_TYPE_WORKFLOW
	}
	r, err := service.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: namespace, TaskQueue: &taskqueue.TaskQueue{Name: queue}, TaskQueueType: typ,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the task queue %s: %w", queue, err)
	}
	for _, p := range r.GetPollers() {
		if now.Sub(p.GetLastAccessTime().AsTime()) < pollTime {
			identities = append(identities, p.GetIdentity())
		}
	}
	return identities, nil
}

// OnOtherHosts returns the identities of workers on other hosts than this one. The SDK identifies a
// worker as PID@HOST@.
func OnOtherHosts(identities []string, host string) (others []string) {
	for _, id := range identities {
		if parts := strings.Split(id, "@"); len(parts) < 2 || parts[1] != host {
			others = append(others, id)
		}
	}
	return others
}
