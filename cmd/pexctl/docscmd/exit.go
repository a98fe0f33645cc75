package docscmd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/stop"
)

// ExitDocs says what each exit code means, the same for every command. A test
// holds it to the codes there are.
var ExitDocs = []struct {
	Code  int
	about string
}{
	{ui.ExitOK, "Success."},
	{ui.ExitNegative, "A negative result: a run failed or was cancelled, a test failed, a gate does not hold, a comparison found what it was asked to find."},
	{ui.ExitUsage, "The command line, or a spec, is invalid: mend what the message names."},
	{ui.ExitInfra, "A provider, a tool server, a store or a file: what was asked for is right, and could not be done. Try again."},
	{ui.ExitLimited, "Stopped by a limit or a guard before its end, or (an evaluation) inconclusive."},
	{ui.ExitWaiting, "A run waits for a person; the message says how to answer."},
	{ui.ExitHungUp, "Suspended by SIGHUP, as when the terminal is closed; `pexctl resume` continues."},
	{ui.ExitInterrupted, "Suspended by Ctrl-C; `pexctl resume` goes on."},
	{ui.ExitTerminated, "Suspended by SIGTERM; `pexctl resume` goes on."},
}

// StopDocs says why runs end, and with which status. A test holds it to the
// codes there are.
var StopDocs = []struct {
	Code     stop.Code
	statuses []stop.RunStatus
	about    string
}{
	{stop.Answered, []stop.RunStatus{stop.RunCompleted}, "There is an answer."},
	{stop.Guard, []stop.RunStatus{stop.RunCompleted, stop.RunStopped, stop.RunFailed}, "A guard ended it: `do: succeed`, `stop` or `fail`."},
	{stop.MaxSteps, []stop.RunStatus{stop.RunStopped}, "`limits.max_steps`."},
	{stop.MaxReplans, []stop.RunStatus{stop.RunStopped}, "`limits.max_replans`."},
	{stop.BudgetTokens, []stop.RunStatus{stop.RunStopped}, "`limits.max_tokens`."},
	{stop.BudgetCost, []stop.RunStatus{stop.RunStopped}, "`limits.max_cost`."},
	{stop.MaxToolCalls, []stop.RunStatus{stop.RunStopped}, "`limits.max_tool_calls`."},
	{stop.Deadline, []stop.RunStatus{stop.RunStopped}, "`limits.max_duration`."},
	{stop.Loop, []stop.RunStatus{stop.RunStopped}, "The same again and again: a tool's call, or the graph."},
	{stop.Interrupted, []stop.RunStatus{stop.RunInterrupted}, "A person is asked."},
	{stop.NeedsReview, []stop.RunStatus{stop.RunInterrupted}, "A write may have happened or not: a person says `done`, `redo` or `skip`."},
	{stop.PlannerInvalid, []stop.RunStatus{stop.RunFailed}, "No plan could be read, also after it was asked for again."},
	{stop.OutputInvalid, []stop.RunStatus{stop.RunFailed}, "The answer does not fit `output`, also after repairs."},
	{stop.Refused, []stop.RunStatus{stop.RunFailed}, "The model declined."},
	{stop.StepFailed, []stop.RunStatus{stop.RunFailed}, "A step or node failed by something else than a model call, and the spec says that this ends the run."},
	{stop.Drift, []stop.RunStatus{stop.RunFailed}, "A replay or a fork asks for something else than what was recorded; the message says what differs."},
	{stop.Internal, []stop.RunStatus{stop.RunFailed}, "Something else went wrong; the message says what."},
	{stop.ProviderError, []stop.RunStatus{stop.RunFailed}, "A model cannot be asked, or a model call failed the step or node that ends the run."},
	{stop.ToolsChanged, []stop.RunStatus{stop.RunFailed}, "A server's tools are not those of `pex.lock`."},
	{stop.StoreUnavailable, []stop.RunStatus{stop.RunInterrupted}, "The journal or the memory cannot be used now: other processes have it, or the machine refuses. Resume the run later."},
	{stop.StoreFull, []stop.RunStatus{stop.RunInterrupted, stop.RunFailed}, "There is no room on the disk: free some and resume the run. `failed` if not even its first record could be written: run it again."},
	{stop.StoreCorrupt, []stop.RunStatus{stop.RunInterrupted, stop.RunFailed}, "What is stored is damaged. `interrupted` if it is the memory: restore or remove it and resume the run."},
	{stop.TooLarge, []stop.RunStatus{stop.RunFailed}, "A template renders to more than 16 MiB; the message names it."},
	{stop.Suspended, []stop.RunStatus{stop.RunInterrupted}, "Somebody stopped the process; the run goes on when it is resumed."},
	{stop.Cancelled, []stop.RunStatus{stop.RunCancelled}, "Somebody ended it: `pexctl runs cancel`, or an answer."},
}

// ExitPage is the reference page of exit codes, in Markdown.
func ExitPage() []byte {
	var b bytes.Buffer
	b.WriteString(made + "# Exit codes\n\nThe same for every command.\n\n| code | |\n| --- | --- |\n")
	for _, d := range ExitDocs {
		fmt.Fprintf(&b, "| %d | %s |\n", d.Code, d.about)
	}
	b.WriteString("\n## Why a run ended\n\n`stop_reason.code` of a result, the status that goes with it, and the exit code that comes of both.\n\n| code | status | exit | |\n| --- | --- | --- | --- |\n")
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
