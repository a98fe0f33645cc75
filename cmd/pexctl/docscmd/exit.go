package docscmd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/stop"
)

// ExitDocs documents each exit code, which has the same meaning for every
// command. A test compares it with the existing codes.
var ExitDocs = []struct {
	Code  int
	about string
}{
	{ui.ExitOK, "Success."},
	{ui.ExitNegative, "A negative result: a run failed or was cancelled, a test failed, a gate failed, or a comparison found a difference that it looks for."},
	{ui.ExitUsage, "The command line or a spec is invalid. Fix what the message names."},
	{ui.ExitInfra, "The request is valid but could not be completed, because of a provider, a tool server, a store or a file. Try again."},
	{ui.ExitLimited, "A limit or a guard stopped the run before its end, or an evaluation is inconclusive."},
	{ui.ExitWaiting, "A run waits for a human. The message says how to answer."},
	{ui.ExitHungUp, "Suspended by SIGHUP, for example because the terminal was closed. Continue with `pexctl resume`."},
	{ui.ExitInterrupted, "Suspended by Ctrl-C. Continue with `pexctl resume`."},
	{ui.ExitTerminated, "Suspended by SIGTERM. Continue with `pexctl resume`."},
}

// StopDocs documents the reasons why runs end, with the resulting status. A test
// compares it with the existing reasons.
var StopDocs = []struct {
	Code     stop.Code
	statuses []stop.RunStatus
	about    string
}{
	{stop.Answered, []stop.RunStatus{stop.RunCompleted}, "The run has an answer."},
	{stop.Guard, []stop.RunStatus{stop.RunCompleted, stop.RunStopped, stop.RunFailed}, "A guard ended the run: `do: succeed`, `stop` or `fail`."},
	{stop.MaxSteps, []stop.RunStatus{stop.RunStopped}, "`limits.max_steps`."},
	{stop.MaxReplans, []stop.RunStatus{stop.RunStopped}, "`limits.max_replans`."},
	{stop.BudgetTokens, []stop.RunStatus{stop.RunStopped}, "`limits.max_tokens`."},
	{stop.BudgetCost, []stop.RunStatus{stop.RunStopped}, "`limits.max_cost`."},
	{stop.MaxToolCalls, []stop.RunStatus{stop.RunStopped}, "`limits.max_tool_calls`."},
	{stop.Deadline, []stop.RunStatus{stop.RunStopped}, "`limits.max_duration`."},
	{stop.Loop, []stop.RunStatus{stop.RunStopped}, "A loop: the same tool call was repeated, or the graph does not progress."},
	{stop.Interrupted, []stop.RunStatus{stop.RunInterrupted}, "The run waits for an answer from a human."},
	{stop.NeedsReview, []stop.RunStatus{stop.RunInterrupted}, "A write has an unknown outcome. A human answers `done`, `redo` or `skip`."},
	{stop.PlannerInvalid, []stop.RunStatus{stop.RunFailed}, "The planner returned no valid plan, even after it was asked again."},
	{stop.OutputInvalid, []stop.RunStatus{stop.RunFailed}, "The answer does not match `output`, even after repairs."},
	{stop.Refused, []stop.RunStatus{stop.RunFailed}, "The model refused."},
	{stop.StepFailed, []stop.RunStatus{stop.RunFailed}, "A step or node failed, not because of a model call, and the spec ends the run in this case."},
	{stop.Drift, []stop.RunStatus{stop.RunFailed}, "A replay or a fork differs from the recording. The message says how."},
	{stop.Internal, []stop.RunStatus{stop.RunFailed}, "Another error. The message describes it."},
	{stop.ProviderError, []stop.RunStatus{stop.RunFailed}, "A model cannot be called, or a failed model call ended the run."},
	{stop.ToolsChanged, []stop.RunStatus{stop.RunFailed}, "The tools of a server differ from `pex.lock`."},
	{stop.StoreUnavailable, []stop.RunStatus{stop.RunInterrupted}, "The journal or the memory is not available, because another process uses it or because of an I/O error. Resume the run later."},
	{stop.StoreFull, []stop.RunStatus{stop.RunInterrupted, stop.RunFailed}, "The disk is full. Free some space and resume the run. The status is `failed` if even the first record could not be written; then start the run again."},
	{stop.StoreCorrupt, []stop.RunStatus{stop.RunInterrupted, stop.RunFailed}, "The stored data is corrupt. The status is `interrupted` if it is the memory; restore or remove it and resume the run."},
	{stop.TooLarge, []stop.RunStatus{stop.RunFailed}, "A template renders to more than 16 MiB; the message names it."},
	{stop.Suspended, []stop.RunStatus{stop.RunInterrupted}, "The process was stopped. Resume the run to continue."},
	{stop.Cancelled, []stop.RunStatus{stop.RunCancelled}, "The run was cancelled with `pexctl runs cancel` or by an answer."},
}

// ExitPage returns the reference page of exit codes, in Markdown.
func ExitPage() []byte {
	var b bytes.Buffer
	b.WriteString(generatedMark + "# Exit codes\n\nAll commands use the same exit codes.\n\n| code | |\n| --- | --- |\n")
	for _, d := range ExitDocs {
		fmt.Fprintf(&b, "| %d | %s |\n", d.Code, d.about)
	}
	b.WriteString("\n## Stop reasons\n\nThe `stop_reason.code` of a run result, with the status of the run and the exit code.\n\n| code | status | exit | |\n| --- | --- | --- | --- |\n")
	for _, d := range StopDocs {
		var statuses, exits []string
		for _, s := range d.statuses {
			statuses = append(statuses, "`"+string(s)+"`")
			exits = append(exits, fmt.Sprint(ui.RunExitCode(stop.Reason{Code: d.Code}, s)))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Code, strings.Join(statuses, ", "), strings.Join(exits, ", "), d.about)
	}
	return b.Bytes()
}
