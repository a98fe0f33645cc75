//go:build unix

package servetest_test

import (
	"fmt"
	"strings"
	"time"
)

// agent describes a scripted agent: a plan of steps, each with one call of a tool.
type agent struct {
	name     string
	steps    int
	tool     string        // its entry in tools: "NAME: CONFIG"; "" = calculator
	latency  time.Duration // of the model
	planning time.Duration // of the first call, besides
	parallel bool          // the steps do not depend on each other, and run at once
}

// Tools that append a line with the key of the call to the ledger.
const (
	writeTool   = `write: {type: command, effect: write, approval: never, argv: [sh, -c, 'echo "$PEX_IDEMPOTENCY_KEY" >> ledger; echo written']}`
	slowTool    = `write: {type: command, effect: write, approval: never, argv: [sh, -c, 'sleep 0.02; echo "$PEX_IDEMPOTENCY_KEY" >> ledger; sleep 0.02; echo written']}`
	approveTool = `write: {type: command, effect: write, approval: always, argv: [sh, -c, 'echo "$PEX_IDEMPOTENCY_KEY" >> ledger; echo written']}`
)

// spec returns the spec of the agent.
func (a agent) spec() string {
	name, arguments, tool := "calculator", "{expression: 6 * 7}", "calculator: {}"
	if a.tool != "" {
		tool, arguments = a.tool, "{}"
		name, _, _ = strings.Cut(tool, ":")
	}
	var steps []string
	for i := range a.steps {
		step := fmt.Sprintf(`{"id": "s%d", "goal": "Do part %d"`, i+1, i+1)
		if i > 0 && !a.parallel {
			step += fmt.Sprintf(`, "depends_on": ["s%d"]`, i)
		}
		steps = append(steps, step+"}")
	}
	executor := ""
	if a.parallel {
		executor = fmt.Sprintf("executor: {max_parallel_steps: %d}\n", a.steps)
	}
	delay := fmt.Sprintf("delay: %s, times: 0", a.latency)
	return fmt.Sprintf(`apiVersion: pex/v1
kind: Agent
metadata: {name: %s}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, delay: %s, times: 0, text: '{"steps": [%s], "result": ""}'}
        - {role: executor, %s, when: call == 1, tool_calls: [{name: %s, arguments: %s}]}
        - {role: executor, %s, text: this part is done}
        - {role: reflector, %s, text: '{"steps": [], "result": "All parts are done."}'}
tools:
  %s
planner: {llm: main, plan_format: dag}
reflector: {strategy: batch}
%slimits: {max_steps: 100}
memory: {backend: none}
`, a.name, a.latency+a.planning, strings.Join(steps, ", "), delay, name, arguments, delay, delay, tool, executor)
}

// serverFile returns a server of agents with further keys, one per line.
func serverFile(keys ...string) string {
	return "apiVersion: pex/v1\nkind: Server\nmetadata: {name: servetest}\n" + strings.Join(keys, "\n") + "\n"
}
