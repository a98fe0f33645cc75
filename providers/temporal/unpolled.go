package temporal

import (
	"context"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/temporal/queue"
)

// Unpolled returns the queues that a run of a program may need and that no worker polls. A run
// waits for one.
func (d *Driver) Unpolled(ctx context.Context, p *engine.Program) (names []string, err error) {
	for _, name := range queuesOf(p) {
		polled, err := queue.Polled(ctx, d.Client.WorkflowService(), d.Namespace, name, time.Now())
		if err != nil {
			return nil, err
		}
		if !polled {
			names = append(names, name)
		}
	}
	return names, nil
}

// queuesOf returns the queues of a program and its agents, sorted.
func queuesOf(p *engine.Program) []string {
	all := []string{queue.Workflow}
	if p.Memory.Backend != "none" {
		all = append(all, queue.Memory)
	}
	for i := range p.Models {
		if _, offline := p.Models[i].Config.(model.Offline); !offline {
			all = append(all, queue.LLM(p.Models[i].Name))
		}
	}
	for i := range p.Tools {
		host := p.Tools[i].Host
		if host == tool.AnyHost {
			host = ""
		}
		all = append(all, queue.ToolOn(host))
	}
	for _, a := range p.Agents {
		all = append(all, queuesOf(a)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Check makes sure that the other workers have the same limits. The error may be a
// *queue.WorkerError.
func (w *Worker) Check(ctx context.Context, namespace string) error {
	for _, p := range w.polls {
		if p.workflows {
			continue
		}
		if err := queue.CheckWorkers(ctx, w.o.Client.WorkflowService(), namespace, p.queue, p.perSecond, time.Now()); err != nil {
			return err
		}
	}
	return nil
}
