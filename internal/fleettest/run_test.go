//go:build e2e && linux

package fleettest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// person looks after one run, at a terminal.
type person struct {
	driver driver
	ledger *ledger
	id     string

	doubts, redone int // writes in doubt, and how many of them the ledger did not have
	attempts       int // of commands
	log            bytes.Buffer
}

// retryPause is how long a person waits if there is no server.
const retryPause = 200 * time.Millisecond

// untilDone returns the result of the run. It attaches again when the server was lost, and answers
// questions about writes in doubt as the ledger has it.
func (c *person) untilDone(ctx context.Context) (*result, error) {
	next := c.driver.run(c.id)
	for {
		r, code, err := c.execute(ctx, next)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("run %s has not ended: %w\n%s", c.id, context.Cause(ctx), c.log.String())
		case err != nil:
			return nil, fmt.Errorf("run %s: %w\n%s", c.id, err, c.log.String())
		case code == codeDone:
			return r, nil
		case code == codeWaits:
			decisions, err := c.decide(r)
			if err != nil {
				return nil, err
			}
			next = c.driver.answer(c.id, decisions)
		case code == codeInfra:
			select {
			case <-ctx.Done():
			case <-time.After(retryPause):
			}
			next = c.driver.run(c.id)
		default:
			return nil, fmt.Errorf("run %s ended with exit code %d: %+v\n%s", c.id, code, r, c.log.String())
		}
	}
}

// execute runs a command to its end.
func (c *person) execute(ctx context.Context, cmd *exec.Cmd) (*result, int, error) {
	c.attempts++
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	stop()
	code := cmd.ProcessState.ExitCode()
	fmt.Fprintf(&c.log, "%v -> %d %s\n", cmd.Args[1:], code, bytes.TrimSpace(stderr.Bytes()))
	if code != codeDone && code != codeWaits {
		return nil, code, nil
	}
	var r result
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		return nil, code, fmt.Errorf("stdout is no result: %w: %s", err, stdout.String())
	}
	return &r, code, nil
}

// decide answers the questions of a run.
func (c *person) decide(r *result) ([]decision, error) {
	var out []decision
	for _, q := range r.Interrupts {
		if q.Kind != "needs_review" {
			return nil, fmt.Errorf("run %s asks about %+v; only writes in doubt may wait", c.id, q)
		}
		d := decision{Path: q.Path, Receipt: c.ledger.receiptOf(c.id + "/" + q.Path)}
		c.doubts++
		if d.Receipt == "" {
			c.redone++
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("run %s waits and asks nothing: %+v", c.id, r)
	}
	return out, nil
}
