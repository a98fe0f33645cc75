package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
)

// exitDocs says what each exit code means, the same for every command. A test
// holds it to the codes there are.
var exitDocs = []struct {
	code  int
	about string
}{
	{ui.ExitOK, "Success."},
	{ui.ExitNegative, "A negative result: a run failed or was cancelled, a test failed, a gate does not hold, a comparison found what it was asked to find."},
	{ui.ExitUsage, "The command line, or a spec, is invalid: mend what the message names."},
	{ui.ExitInfra, "A provider, a tool server, a store or a file: what was asked for is right, and could not be done. Try again."},
	{ui.ExitLimited, "Stopped by a limit or a guard before its end, or (an evaluation) inconclusive."},
	{exitWaiting, "A run waits for a person; the message says how to answer."},
	{ui.ExitHungUp, "Suspended by SIGHUP, as when the terminal is closed; `pexctl resume` continues."},
	{ui.ExitInterrupted, "Suspended by Ctrl-C; `pexctl resume` goes on."},
	{ui.ExitTerminated, "Suspended by SIGTERM; `pexctl resume` goes on."},
}

// exitWaiting is what engine.StopReason.ExitCode gives for a run that waits.
var exitWaiting = engine.StopReason{Code: engine.StopInterrupted}.ExitCode(engine.Interrupted)

// stopDocs says why runs end, and with which status. A test holds it to the
// codes there are.
var stopDocs = []struct {
	code     engine.StopCode
	statuses []engine.RunStatus
	about    string
}{
	{engine.StopAnswered, []engine.RunStatus{engine.Completed}, "There is an answer."},
	{engine.StopGuard, []engine.RunStatus{engine.Completed, engine.Stopped, engine.Failed}, "A guard ended it: `do: succeed`, `stop` or `fail`."},
	{engine.StopMaxSteps, []engine.RunStatus{engine.Stopped}, "`limits.max_steps`."},
	{engine.StopMaxReplans, []engine.RunStatus{engine.Stopped}, "`limits.max_replans`."},
	{engine.StopBudgetTokens, []engine.RunStatus{engine.Stopped}, "`limits.max_tokens`."},
	{engine.StopBudgetCost, []engine.RunStatus{engine.Stopped}, "`limits.max_cost`."},
	{engine.StopMaxToolCalls, []engine.RunStatus{engine.Stopped}, "`limits.max_tool_calls`."},
	{engine.StopDeadline, []engine.RunStatus{engine.Stopped}, "`limits.max_duration`."},
	{engine.StopLoop, []engine.RunStatus{engine.Stopped}, "The same again and again: a tool's call, or the graph."},
	{engine.StopInterrupted, []engine.RunStatus{engine.Interrupted}, "A person is asked."},
	{engine.StopNeedsReview, []engine.RunStatus{engine.Interrupted}, "A write may have happened or not: a person says `done`, `redo` or `skip`."},
	{engine.StopPlannerInvalid, []engine.RunStatus{engine.Failed}, "No plan could be read, also after it was asked for again."},
	{engine.StopOutputInvalid, []engine.RunStatus{engine.Failed}, "The answer does not fit `output`, also after repairs."},
	{engine.StopRefused, []engine.RunStatus{engine.Failed}, "The model declined."},
	{engine.StopStepFailed, []engine.RunStatus{engine.Failed}, "A step or node failed by something else than a model call, and the spec says that this ends the run."},
	{engine.StopDrift, []engine.RunStatus{engine.Failed}, "A replay or a fork asks for something else than what was recorded; the message says what differs."},
	{engine.StopInternal, []engine.RunStatus{engine.Failed}, "Something else went wrong; the message says what."},
	{engine.StopProviderError, []engine.RunStatus{engine.Failed}, "A model cannot be asked, or a model call failed the step or node that ends the run."},
	{engine.StopToolsChanged, []engine.RunStatus{engine.Failed}, "A server's tools are not those of `pex.lock`."},
	{engine.StopStoreUnavailable, []engine.RunStatus{engine.Interrupted}, "The journal or the memory cannot be used now: other processes have it, or the machine refuses. Resume the run later."},
	{engine.StopStoreFull, []engine.RunStatus{engine.Interrupted, engine.Failed}, "There is no room on the disk: free some and resume the run. `failed` if not even its first record could be written: run it again."},
	{engine.StopStoreCorrupt, []engine.RunStatus{engine.Interrupted, engine.Failed}, "What is stored is damaged. `interrupted` if it is the memory: restore or remove it and resume the run."},
	{engine.StopTooLarge, []engine.RunStatus{engine.Failed}, "A template renders to more than 16 MiB; the message names it."},
	{engine.StopSuspended, []engine.RunStatus{engine.Interrupted}, "Somebody stopped the process; the run goes on when it is resumed."},
	{engine.StopCancelled, []engine.RunStatus{engine.Cancelled}, "Somebody ended it: `pexctl runs cancel`, or an answer."},
}

func exitPage() []byte {
	var b bytes.Buffer
	b.WriteString(made + "# Exit codes\n\nThe same for every command.\n\n| code | |\n| --- | --- |\n")
	for _, d := range exitDocs {
		fmt.Fprintf(&b, "| %d | %s |\n", d.code, d.about)
	}
	b.WriteString("\n## Why a run ended\n\n`stop_reason.code` of a result, the status that goes with it, and the exit code that comes of both.\n\n| code | status | exit | |\n| --- | --- | --- | --- |\n")
	for _, d := range stopDocs {
		var statuses, exits []string
		for _, s := range d.statuses {
			statuses = append(statuses, "`"+string(s)+"`")
			exits = append(exits, fmt.Sprint(engine.StopReason{Code: d.code}.ExitCode(s)))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.code, strings.Join(statuses, ", "), strings.Join(exits, ", "), d.about)
	}
	return b.Bytes()
}
