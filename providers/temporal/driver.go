package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/providers/temporal/queue"
)

// Driver starts and controls runs on Temporal. It is safe for concurrent use.
type Driver struct {
	Client    client.Client
	Namespace string
}

// NewRun describes a run to start.
type NewRun struct {
	Program      *engine.Program
	Portable     []byte // the program for other machines; see Options.Env
	Input        engine.Input
	By           engine.Actor
	Version      string // of pexctl
	Conversation bool   // include every message in the result
	MaxEvents    int    // length of a history; 0 = as the server suggests
}

// Errors of a Driver.
var (
	ErrExists   = errors.New("a run with this id exists")
	ErrNotFound = errors.New("there is no such run on the server")
)

// RefusedError reports that a run does not accept a request.
type RefusedError struct{ Why string }

// Error returns the reason.
func (e *RefusedError) Error() string { return e.Why }

// Start starts a run, which then needs only workers. The error wraps ErrExists if its id is in use.
func (d *Driver) Start(ctx context.Context, n NewRun) error {
	set := settings{Version: n.Version, By: n.By, Conversation: n.Conversation, MaxEvents: n.MaxEvents}
	o := client.StartWorkflowOptions{
		ID: idOf(&n.Input), TaskQueue: queue.Workflow, Priority: queue.Share(tenantOf(&n.Input)),
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		TypedSearchAttributes:                    attributesOf(n.Program, &n.Input),
	}
	_, err := d.Client.ExecuteWorkflow(ctx, o, workflowName, set, runtime.StartOf(n.Program, n.Input), n.Portable, []byte(nil))
	if _, exists := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); exists {
		return fmt.Errorf("%w: %s", ErrExists, n.Input.RunID)
	}
	return err
}

func idOf(in *engine.Input) string { return WorkflowID(tenantOf(in), in.RunID) }

func tenantOf(in *engine.Input) string {
	if in.Origin == nil {
		return ""
	}
	return in.Origin.Tenant
}

// Wait returns the result of a run and the lines of its journal, once it has ended.
func (d *Driver) Wait(ctx context.Context, tenant, run string) (result json.RawMessage, journal []byte, err error) {
	var out output
	if err := d.Client.GetWorkflow(ctx, WorkflowID(tenant, run), "").Get(ctx, &out); err != nil {
		return nil, nil, explain(err)
	}
	return out.Result, out.Journal, nil
}

// State returns the state of a run.
func (d *Driver) State(ctx context.Context, tenant, run string) (s State, err error) {
	err = d.query(ctx, tenant, run, &s, stateQuery)
	return s, err
}

// Journal returns the lines of the journal of a run, from a byte on.
func (d *Driver) Journal(ctx context.Context, tenant, run string, from int) (lines []byte, err error) {
	err = d.query(ctx, tenant, run, &lines, journalQuery, from)
	return lines, err
}

func (d *Driver) query(ctx context.Context, tenant, run string, into any, name string, args ...any) error {
	v, err := d.Client.QueryWorkflow(ctx, WorkflowID(tenant, run), "", name, args...)
	if err != nil {
		return explain(err)
	}
	return v.Get(into)
}

// Decide answers questions, by path, and decides about writes in doubt (done:<json>, redo or skip).
// It returns once the answers are stored. The error is a *RefusedError if one is not accepted.
func (d *Driver) Decide(ctx context.Context, tenant, run string, answers map[string]json.RawMessage, resolve map[string]string, by engine.Actor) error {
	return d.update(ctx, tenant, run, decideUpdate, decisions{answers, resolve, by})
}

// Message sends a message to a run. It returns once the message is stored. The error is a
// *RefusedError if the run does not accept it.
func (d *Driver) Message(ctx context.Context, tenant, run string, m runtime.Message, by engine.Actor) error {
	return d.update(ctx, tenant, run, messageUpdate, message{m.ID, m.Text, m.Interrupt, by})
}

// Cancel cancels a run. It returns once the decision is stored.
func (d *Driver) Cancel(ctx context.Context, tenant, run string, by engine.Actor) error {
	return d.update(ctx, tenant, run, cancelUpdate, by)
}

func (d *Driver) update(ctx context.Context, tenant, run, name string, arg any) error {
	h, err := d.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: WorkflowID(tenant, run), UpdateName: name, Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	return explain(err)
}

// explain returns the named error of a call of the server.
func explain(err error) error {
	var missing *serviceerror.NotFound
	var failed *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return &RefusedError{failed.Message()}
	case errors.As(err, &missing):
		return ErrNotFound
	}
	return err
}
