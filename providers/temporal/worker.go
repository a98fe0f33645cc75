package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/temporal/payload"
	"github.com/pexctl/pex/providers/temporal/queue"
)

// Options configure a Worker.
type Options struct {
	Client client.Client
	Codec  *payload.Codec // that of Client; nil = one without keys and store
	// Env returns what executes a run whose program travels as these bytes: NewRun.Portable.
	Env func(portable []byte) (runs.Env, error)
	// Programs are those whose llms the worker calls: each llm has a queue of its own.
	Programs []*engine.Program

	Workflows, Models, Tools, Memory bool     // what the worker does
	Hosts                            []string // labels of this host: tools that need one are called here

	MaxActivities int           // performed at once by each queue; 0 = DefaultMax
	Grace         time.Duration // how long work in progress may continue once the worker stops
	BuildID       string        // pins executions to workers of this build; "" = they move to every worker
	Logger        *slog.Logger  // nil = none

	// Cache is how many executions are kept in memory; 0 = the SDK's default, -1 = none.
	Cache int
	// Virtual makes runs take virtual time: for tests.
	Virtual bool
}

// DefaultMax is the default of Options.MaxActivities.
const DefaultMax = 32

// Worker executes the workflows of runs, and performs their work. It is safe for concurrent use.
type Worker struct {
	o     Options
	sites *sites
	polls []poll
}

// poll is a task queue that a worker polls.
type poll struct {
	queue     string
	workflows bool    // else activities
	perSecond float64 // of all workers; 0 = no limit
}

// New returns a worker. It does not poll before Run. The error is a *queue.ConflictError if its
// programs disagree about a limit.
func New(o Options) (*Worker, error) {
	if o.Codec == nil {
		o.Codec = payload.New(payload.Options{})
	}
	w := &Worker{o: o, sites: newSites(&o)}
	limits, err := queue.Limits(o.Programs...)
	if err != nil {
		return nil, err
	}
	if o.Workflows {
		w.polls = append(w.polls, poll{queue.Workflow, true, 0})
	}
	if o.Models {
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			w.polls = append(w.polls, poll{name, false, limits[name]})
		}
	}
	if o.Tools {
		for _, label := range append([]string{""}, o.Hosts...) {
			w.polls = append(w.polls, poll{queue.ToolOn(label), false, 0})
		}
	}
	if o.Memory {
		w.polls = append(w.polls, poll{queue.Memory, false, 0})
	}
	if len(w.polls) == 0 {
		return nil, ErrIdle
	}
	return w, nil
}

// ErrIdle reports that a worker would poll no queue: those of models have the names of the llms of
// its programs.
var ErrIdle = errors.New("the worker has no queue to poll")

// Queues returns the names of the queues that the worker polls.
func (w *Worker) Queues() (names []string) {
	for _, p := range w.polls {
		names = append(names, p.queue)
	}
	return names
}

// Registry is where a worker registers what it executes.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
}

// Register registers the workflow and the activity at once. Run does that for each queue.
func (w *Worker) Register(r Registry) {
	w.RegisterWorkflow(r)
	w.registerActivity(r)
}

// RegisterWorkflow registers only the workflow, such as for replays of histories.
func (w *Worker) RegisterWorkflow(r interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
},
) {
	r.RegisterWorkflowWithOptions(w.workflow, workflow.RegisterOptions{Name: workflowName, VersioningBehavior: w.o.versioning()})
}

func (w *Worker) registerActivity(r Registry) {
	r.RegisterActivityWithOptions(w.do, activity.RegisterOptions{Name: activityName})
}

// Run polls until ctx ends, then lets work in progress end within Grace.
func (w *Worker) Run(ctx context.Context) error {
	defer w.sites.close()
	if w.o.Cache != 0 {
		worker.SetStickyWorkflowCacheSize(max(w.o.Cache, 0))
	}
	var polling []worker.Worker
	for _, p := range w.polls {
		wo := w.o.worker(p.workflows)
		w.o.Codec.ConfigureWorker(&wo)
		queue.Limit(&wo, p.perSecond)
		one := worker.New(w.o.Client, p.queue, wo)
		if p.workflows {
			w.RegisterWorkflow(one)
		} else {
			w.registerActivity(one)
		}
		if err := one.Start(); err != nil {
			end(polling)
			return fmt.Errorf("the worker cannot start: %w", err)
		}
		polling = append(polling, one)
	}
	<-ctx.Done()
	end(polling)
	return nil
}

// end stops workers, all at the same time.
func end(polling []worker.Worker) {
	var all sync.WaitGroup
	for _, one := range polling {
		all.Go(one.Stop)
	}
	all.Wait()
}

// worker returns the options of the SDK for one queue.
func (o *Options) worker(workflows bool) worker.Options {
	most := o.MaxActivities
	if most == 0 {
		most = DefaultMax
	}
	wo := worker.Options{
		WorkerStopTimeout: o.Grace, DisableRegistrationAliasing: true, DisableEagerActivities: true,
		DeadlockDetectionTimeout: deadlock, MaxConcurrentActivityExecutionSize: most,
		DisableWorkflowWorker: !workflows, LocalActivityWorkerOnly: workflows,
	}
	if o.BuildID != "" {
		wo.DeploymentOptions = worker.DeploymentOptions{
			UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: o.BuildID},
		}
	}
	return wo
}

// deployment is the name of the workers of pex for Worker Versioning.
const deployment = "pex"

// deadlock is how long workflow code may compute at a time. A replay takes 7 ms per 1,000 effects.
const deadlock = 10 * time.Second

func (o *Options) versioning() workflow.VersioningBehavior {
	if o.BuildID == "" {
		return workflow.VersioningBehaviorUnspecified
	}
	return workflow.VersioningBehaviorPinned
}

// heartbeat is how often a worker reports that it performs work; lost is after how long without a
// report it counts as ended.
const (
	heartbeat = 3 * time.Second
	lost      = 10 * time.Second
)

// activityOptions returns how work is performed: once, on the queue of what it needs.
func (x *execution) activityOptions(work *runtime.Work) workflow.ActivityOptions {
	o := workflow.ActivityOptions{
		StartToCloseTimeout: maxGrace, HeartbeatTimeout: lost, RetryPolicy: once, DisableEagerExecution: true, Priority: queue.Share(x.tenant()),
	}
	switch kind, name := work.Kind(); kind {
	case runtime.ModelWork:
		o.TaskQueue = queue.LLM(name)
	case runtime.ToolWork:
		o.TaskQueue = queue.ToolOn(x.label(work.Agents, name))
	case runtime.MemoryWork:
		o.TaskQueue = queue.Memory
	}
	return o
}

// tenant returns the tenant of the run.
func (x *execution) tenant() string {
	if from := x.run.Start.Input.Origin; from != nil {
		return from.Tenant
	}
	return ""
}

// label returns the label of the host that a tool of an agent needs, or "".
func (x *execution) label(agents []runtime.AgentCall, name string) string {
	p := x.run.Program
	for _, a := range agents {
		if a.Agent < 0 || a.Agent >= len(p.Agents) {
			return ""
		}
		p = p.Agents[a.Agent]
	}
	i := slices.IndexFunc(p.Tools, func(t tool.Spec) bool { return t.Name == name })
	if i < 0 || p.Tools[i].Host == tool.AnyHost {
		return ""
	}
	return p.Tools[i].Host
}
