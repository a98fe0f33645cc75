//go:build e2e && linux

package fleettest_test

import (
	"encoding/json"
	"os/exec"
)

// driver has the commands of one implementation, in its own folder.
type driver interface {
	// worker returns a worker; it works until it is killed.
	worker(name string) *exec.Cmd
	// run starts a run, or attaches to it, and waits until it has ended or waits for a person. It
	// prints a result.
	run(id string) *exec.Cmd
	// answer decides about writes in doubt, and then does what run does.
	answer(id string, decisions []decision) *exec.Cmd
}

// workerCalls is how many calls a worker performs at the same time, at most.
const workerCalls = 32

// decision is the answer of a person about a write.
type decision struct {
	Path    string // of the write
	Receipt string // that the ledger has; "" = do it again
}

// exit codes of run and answer.
const (
	codeDone  = 0
	codeInfra = 3 // no server; try again
	codeWaits = 5
)

// result is what run and answer print, as far as the judge looks.
type result struct {
	Status     string     `json:"status"`
	Response   string     `json:"response"`
	Interrupts []question `json:"interrupts"`
	Steps      []step     `json:"steps"`
}

// question is what a run waits for.
type question struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

type step struct {
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	ToolCalls []toolCall `json:"tool_calls"`
}

type toolCall struct {
	Args   arguments       `json:"args"`
	Result json.RawMessage `json:"result"`
}

type arguments struct {
	Entry string `json:"entry"`
}

// receipts returns what the run was told by the ledger, by entry. A result is an object, or its
// text.
func (r *result) receipts() map[string]string {
	out := map[string]string{}
	for _, s := range r.Steps {
		for _, c := range s.ToolCalls {
			var told struct {
				Receipt string `json:"receipt"`
			}
			var text string
			if json.Unmarshal(c.Result, &text) == nil {
				c.Result = json.RawMessage(text)
			}
			if json.Unmarshal(c.Result, &told) != nil || told.Receipt == "" {
				told.Receipt = string(c.Result)
			}
			out[c.Args.Entry] = told.Receipt
		}
	}
	return out
}
