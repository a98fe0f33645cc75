//go:build e2e && linux

package fleettest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/internal/temporaltest"
)

// standIn is a driver that follows the rules in few lines: this program, started again.
type standIn struct {
	program string
	environ []string
}

const (
	standInQueue    = "standin"
	standInResponse = "done"
)

func newStandIn(t *testing.T, s *temporaltest.Server, l *ledger, z size, careless bool) standIn {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return standIn{program, append(s.Environ("default"), "STANDIN_LEDGER="+l.url, "STANDIN_STEPS="+strconv.Itoa(z.steps), "STANDIN_WRITES="+strconv.Itoa(z.writes),
		"STANDIN_CARELESS="+strconv.FormatBool(careless))}
}

func (s standIn) command(args ...string) *exec.Cmd {
	c := exec.Command(s.program, args...)
	c.Env = append(slices.Clone(s.environ), "STANDIN="+args[0])
	return c
}

func (s standIn) worker(string) *exec.Cmd { return s.command("worker") }

func (s standIn) run(id string) *exec.Cmd { return s.command("run", id) }

func (s standIn) answer(id string, decisions []decision) *exec.Cmd {
	b, _ := json.Marshal(decisions)
	return s.command("answer", id, string(b))
}

// runStandIn is the program of the stand-in; false = this is the test.
func runStandIn() bool {
	mode := os.Getenv("STANDIN")
	if mode == "" {
		return false
	}
	c, err := client.Dial(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Logger: quiet{}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(codeInfra)
	}
	defer c.Close()
	if mode == "worker" {
		w := worker.New(c, standInQueue, worker.Options{MaxConcurrentActivityExecutionSize: workerCalls})
		w.RegisterWorkflowWithOptions(standInRun, workflow.RegisterOptions{Name: "run"})
		w.RegisterActivityWithOptions(standInWrite, activity.RegisterOptions{Name: "write"})
		if err := w.Run(nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(codeInfra)
		}
		return true
	}
	os.Exit(standInClient(c, os.Args[1:]))
	return true
}

// standInClient runs or answers, and returns the exit code.
func standInClient(c client.Client, args []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	id := args[1]
	steps, _ := strconv.Atoi(os.Getenv("STANDIN_STEPS"))
	writes, _ := strconv.Atoi(os.Getenv("STANDIN_WRITES"))
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: standInQueue, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, WorkflowExecutionErrorWhenAlreadyStarted: false,
	}, "run", id, steps, writes, os.Getenv("STANDIN_CARELESS") == "true")
	if args[0] == "answer" && err == nil {
		var decisions []decision
		err = json.Unmarshal([]byte(args[2]), &decisions)
		for _, d := range decisions {
			if err == nil {
				err = c.SignalWorkflow(ctx, id, "", "answer", d)
			}
		}
	}
	for err == nil {
		var r result
		wait, stop := context.WithTimeout(ctx, 500*time.Millisecond)
		ended := c.GetWorkflow(wait, id, "").Get(wait, &r)
		stop()
		if ended == nil {
			return printResult(r, codeDone)
		}
		if wait.Err() == nil {
			return codeInfra
		}
		v, asked := c.QueryWorkflow(ctx, id, "", "state")
		if asked != nil || v.Get(&r) != nil {
			err = asked
			continue
		}
		if len(r.Interrupts) > 0 {
			return printResult(r, codeWaits)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return codeInfra
}

func printResult(r result, code int) int {
	b, _ := json.Marshal(r)
	fmt.Println(string(b))
	return code
}

// standInRun is the workflow: steps one after the other, the writes of a step at once. A write
// whose outcome is unknown waits for a person.
func standInRun(ctx workflow.Context, id string, steps, writes int, careless bool) (result, error) {
	r, answers := result{Status: "running"}, map[string]decision{}
	if err := workflow.SetQueryHandler(ctx, "state", func() (result, error) { return r, nil }); err != nil {
		return r, err
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var d decision
			workflow.GetSignalChannel(ctx, "answer").Receive(ctx, &d)
			for i, q := range r.Interrupts {
				if q.Path == d.Path { // otherwise it was answered before
					answers[d.Path] = d
					r.Interrupts = slices.Delete(slices.Clone(r.Interrupts), i, i+1)
					break
				}
			}
		}
	})
	attempts := int32(1)
	if careless {
		attempts = 5
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, HeartbeatTimeout: 2 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: attempts},
	})
	for i := range steps {
		done := workflow.NewWaitGroup(ctx)
		receipts := make([]string, writes)
		for j := range writes {
			done.Add(1)
			workflow.Go(ctx, func(ctx workflow.Context) {
				defer done.Done()
				path := fmt.Sprintf("step.s%d/call.%d", i+1, j+1)
				for {
					x := write{id, fmt.Sprintf("%d-%d", i+1, j+1)}
					if err := workflow.ExecuteActivity(ctx, "write", path, x).Get(ctx, &receipts[j]); err == nil {
						return
					}
					r.Interrupts = append(slices.Clone(r.Interrupts), question{path, "needs_review"})
					_ = workflow.Await(ctx, func() bool { _, ok := answers[path]; return ok })
					receipts[j] = answers[path].Receipt
					delete(answers, path)
					if receipts[j] != "" {
						return
					}
				}
			})
		}
		done.Wait(ctx)
		s := step{ID: fmt.Sprint("s", i+1), Status: "ok"}
		for j, receipt := range receipts {
			s.ToolCalls = append(s.ToolCalls, toolCall{arguments{fmt.Sprintf("%d-%d", i+1, j+1)}, json.RawMessage(strconv.Quote(fmt.Sprintf(`{"receipt": %q}`, receipt)))})
		}
		r.Steps = append(r.Steps, s)
	}
	r.Status, r.Response = "completed", standInResponse
	return r, nil
}

// standInWrite sends a write to the ledger.
func standInWrite(ctx context.Context, path string, x write) (string, error) {
	b, err := json.Marshal(x)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("STANDIN_LEDGER"), bytes.NewReader(b))
	if err != nil {
		return "", err
	}
	r.Header.Set("Idempotency-Key", x.Run+"/"+path)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var told struct {
		Receipt string `json:"receipt"`
	}
	if b, err = io.ReadAll(res.Body); err == nil {
		err = json.Unmarshal(b, &told)
	}
	return told.Receipt, errors.Join(err, ctx.Err())
}

// quiet is a log that nobody reads.
type quiet struct{ log.Logger }

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
