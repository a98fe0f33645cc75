package temporal

import (
	"context"
	"fmt"
	"os"
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
		pollers, err := queue.Pollers(ctx, d.Client.WorkflowService(), d.Namespace, name, time.Now())
		if err != nil {
			return nil, err
		}
		if len(pollers) == 0 {
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

// SplitMemoryError reports that workers on several hosts would store conversations on their disks.
type SplitMemoryError struct {
	Program string // whose conversations are on disk
	Other   string // identity of the other worker
}

// Error names both, and what to change.
func (e *SplitMemoryError) Error() string {
	return fmt.Sprintf("conversations of %s are on the disk of one host (memory.backend: badger), and the worker %s on another one stores them, too; "+
		"leave the queue memory to one worker (--queues workflow,llm,tool), or write memory: {backend: postgres, dsn_env: VARIABLE}", e.Program, e.Other)
}

// checkMemory makes sure that conversations on disk are stored by one host.
func (w *Worker) checkMemory(ctx context.Context, namespace string) error {
	i := slices.IndexFunc(w.o.Programs, func(p *engine.Program) bool { return p.Memory.Backend == "badger" })
	if !w.o.Memory || i < 0 {
		return nil
	}
	pollers, err := queue.Pollers(ctx, w.o.Client.WorkflowService(), namespace, queue.Memory, time.Now())
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	if others := queue.OnOtherHosts(pollers, host); len(others) > 0 {
		return &SplitMemoryError{w.o.Programs[i].Name, others[0]}
	}
	return nil
}

// Check makes sure that the other workers have the same limits, and that conversations on disk are
// stored by one host. The error may be a *queue.WorkerError or a *SplitMemoryError.
func (w *Worker) Check(ctx context.Context, namespace string) error {
	for _, p := range w.polls {
		if p.workflows {
			continue
		}
		if err := queue.CheckWorkers(ctx, w.o.Client.WorkflowService(), namespace, p.queue, p.perSecond, time.Now()); err != nil {
			return err
		}
	}
	return w.checkMemory(ctx, namespace)
}
