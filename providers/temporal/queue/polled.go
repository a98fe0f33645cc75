package queue

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// Polled reports whether a worker polled a queue in the last minute before now: Workflow for runs,
// and every other queue for calls.
func Polled(ctx context.Context, service workflowservice.WorkflowServiceClient, namespace, queue string, now time.Time) (bool, error) {
	typ := enums.TASK_QUEUE_TYPE_ACTIVITY
	if queue == Workflow {
		typ = enums.TASK_QUEUE_TYPE_WORKFLOW
	}
	r, err := service.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: namespace, TaskQueue: &taskqueue.TaskQueue{Name: queue}, TaskQueueType: typ,
	})
	if err != nil {
		return false, fmt.Errorf("describe the task queue %s: %w", queue, err)
	}
	for _, p := range r.GetPollers() {
		if now.Sub(p.GetLastAccessTime().AsTime()) < pollTime {
			return true, nil
		}
	}
	return false, nil
}
