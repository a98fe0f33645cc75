package kernel_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// world is what the effects of agent touch; both get the idempotency key.
type world interface {
	model(ctx context.Context, key, prompt string) (reply, error)
	tool(ctx context.Context, key, args string, write bool) (string, error)
}

type reply struct {
	Text, Call string
	Write      bool
	Tokens     int
}

// budget is reserved in the worst case before a call and settled after it:
// plain data, since branches run one at a time.
type budget struct{ limit, used, held, denied int }

var errBudget = errors.New("budget")

func (b *budget) reserve(s *kernel.Scope, worst int) error {
	for b.used+b.held+worst > b.limit {
		if b.held == 0 || b.used+worst > b.limit {
			b.denied++
			return errBudget
		}
		held, used := b.held, b.used
		if err := s.Await(func() bool { return b.held != held || b.used != used }); err != nil {
			return err
		}
	}
	b.held += worst
	return nil
}

func (b *budget) settle(worst, used int) { b.held -= worst; b.used += used }

// stepOut is one step's outcome.
type stepOut struct {
	ID, Status, Text string
	Calls            int
}

// outcome is the final state of agent, exported fields for comparisons.
type outcome struct {
	Steps     []stepOut
	Order     []string // in which steps ended, seen by shared state
	Used      int
	Denied    int
	ToolCalls int
	Guard     string
	Answer    string
}

// agentSpec says what agent does.
type agentSpec struct {
	steps, parallel, maxTurns int
	budget, worst             int
	guardToolCalls            int // stop when the shared counter reaches it
}

func digest(parts ...string) journal.Digest {
	return journal.DigestOf([]byte(strings.Join(parts, "\x00")))
}

func hash(s string) uint64 {
	d := sha256.Sum256([]byte(s))
	return binary.BigEndian.Uint64(d[:])
}

// agent plans, runs steps side by side, each a loop of model and tool calls,
// and reflects; the steps share a budget and a guard.
type agent struct {
	agentSpec
	w   world
	b   budget
	out *outcome
}

func (sp agentSpec) program(w world, out *outcome) func(*kernel.Scope, []byte) error {
	return func(s *kernel.Scope, _ []byte) error {
		*out = outcome{}
		a := &agent{agentSpec: sp, w: w, b: budget{limit: sp.budget}, out: out}
		if _, err := a.model(s, "plan.1/model", "plan"); err != nil {
			return err
		}
		for round := 1; len(out.Steps) < sp.steps && out.Guard == "" && out.Answer != "stopped"; round++ {
			if err := a.round(s, round); err != nil {
				return err
			}
		}
		out.Used, out.Denied = a.b.used, a.b.denied
		return nil
	}
}

func (a *agent) round(s *kernel.Scope, round int) error {
	first := len(a.out.Steps)
	outs := make([]stepOut, min(a.parallel, a.steps-first))
	name := func(i int) string { return fmt.Sprintf("step.s%d", first+i+1) }
	err := s.Parallel(len(outs), name, func(i int, c *kernel.Scope) error {
		outs[i] = a.step(c, fmt.Sprintf("s%d", first+i+1))
		a.out.Order = append(a.out.Order, outs[i].ID)
		return nil
	})
	if err != nil {
		return err
	}
	a.out.Steps = append(a.out.Steps, outs...)
	sum, _ := json.Marshal(outs)
	r, err := a.model(s, fmt.Sprintf("reflect.%d/model", round), "reflect"+string(sum))
	if errors.Is(err, errBudget) {
		a.out.Answer = "stopped"
		return nil
	}
	a.out.Answer = r.Text
	return err
}

func (a *agent) model(s *kernel.Scope, name, prompt string) (reply, error) {
	if err := a.b.reserve(s, a.worst); err != nil {
		return reply{}, err
	}
	r, err := kernel.Do(s, kernel.Effect[reply]{
		Name: name, Class: journal.Read, Digest: digest("m", prompt), Delay: delay(s.Path() + name),
		Request: func() []byte { b, _ := json.Marshal(prompt); return b },
		Perform: func(ctx context.Context, key string) (reply, error) { return a.w.model(ctx, key, prompt) },
	})
	a.b.settle(a.worst, r.Tokens)
	return r, err
}

func (a *agent) step(s *kernel.Scope, id string) stepOut {
	o := stepOut{ID: id, Status: "limit"}
	seen := ""
	for t := range a.maxTurns {
		if a.out.Guard != "" {
			o.Status = "guard"
			return o
		}
		turn := fmt.Sprintf("turn.%d", t)
		r, err := a.model(s, turn+"/model", id+seen)
		if err != nil {
			o.Status = err.Error()
			return o
		}
		if r.Call == "" {
			o.Status, o.Text = "ok", r.Text
			return o
		}
		if a.out.ToolCalls++; a.guardToolCalls > 0 && a.out.ToolCalls >= a.guardToolCalls {
			a.out.Guard = s.ID(turn)
		}
		class := journal.Read
		if r.Write {
			class = journal.Write
		}
		res, err := kernel.Do(s, kernel.Effect[string]{
			Name: turn + "/tool.0", Class: class, Digest: digest("t", r.Call), Delay: delay(s.Path() + turn),
			Perform: func(ctx context.Context, key string) (string, error) { return a.w.tool(ctx, key, r.Call, r.Write) },
		})
		if err != nil {
			res = "error: " + err.Error()
		}
		o.Calls++
		seen += "|" + r.Call + "=" + res
	}
	return o
}
