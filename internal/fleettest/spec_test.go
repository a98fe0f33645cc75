//go:build e2e && linux

package fleettest_test

import (
	"fmt"
	"strings"
)

// size says how much there is to do.
type size struct {
	runs, steps, writes int // writes in each step
	clients             int // runs at the same time
}

// spec returns the spec of an agent with that many steps, each with that many writes to a ledger. The question of a
// run is its id.
func (s size) spec(ledger string) string {
	var steps, replies []string
	for i := range s.steps {
		steps = append(steps, fmt.Sprintf(`{"id": "s%d", "goal": "Do part %d"}`, i+1, i+1))
		var calls []string
		for j := range s.writes {
			calls = append(calls, fmt.Sprintf("{name: write, arguments: {entry: %d-%d}}", i+1, j+1))
		}
		replies = append(replies, fmt.Sprintf(`        - {role: executor, times: 0, when: step == "Do part %d" && call == 1, tool_calls: [%s]}`, i+1, strings.Join(calls, ", ")))
	}
	return fmt.Sprintf(`apiVersion: pex/v1
kind: Agent
metadata: {name: fleet}
llms:
  main:
    provider: scripted
    options:
      replies:
        - {role: planner, times: 0, text: '{"steps": [%s], "result": ""}'}
%s
        - {role: executor, times: 0, text: this part is done}
        - {role: reflector, times: 0, text: '{"steps": [], "result": "All parts are done."}'}
tools:
  write:
    type: http
    method: POST
    url: %s/write
    approval: never
    retry: {max_attempts: 1}
    body: {run: "${parameters.question}", entry: "${args.entry}"}
planner: {llm: main, plan_format: dag}
executor: {max_parallel_steps: 4}
reflector: {strategy: batch}
limits: {max_steps: %d}
memory: {backend: none}
`, strings.Join(steps, ", "), strings.Join(replies, "\n"), ledger, s.steps+10)
}
