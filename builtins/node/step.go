package node

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// attempt is one attempt at a step.
type attempt struct {
	x          *executor
	visit      *batchRun     // the visit it belongs to
	st         plan.Step     // with references filled in
	n          int           // from 1
	began      time.Duration // active time at the start of the step
	rec        plan.StepRecord
	hadEffects bool // a write effect ran or may have run

	delivered delivered
	repairs   int // how often its report was requested again because it did not match the output schema
}

// step runs one step: its attempts, the verification and the guards after it. The record
// holds the outcome; an error ends the run or is a guard's request for a new plan. If a
// guard on a tool call requests one, the step ends as cancelled. It did not fail, so
// on_step_error does not apply and it is not retried.
func (x *executor) step(s engine.Scope, st plan.Step, visit *batchRun) (*plan.StepRecord, error) {
	s = s.Child("step." + st.ID)
	st, refErr := fill(s, st)
	var replan error // a guard's request for a new plan
	a := &attempt{x: x, visit: visit, st: st, began: s.Now(), rec: plan.StepRecord{ID: st.ID, Goal: st.Goal}}
	for a.n = 1; ; a.n++ {
		s.Record(engine.StepStarted{Step: st, Attempt: a.n})
		a.rec.Attempts = a.n
		if refErr != nil {
			a.fail(plan.Failed, refErr.Error())
			break
		}
		err := a.try(s)
		if errors.Is(err, engine.ErrReplan) {
			a.rec.Result = ""
			a.fail(cutStatus(err))
			replan = err
			break
		}
		if err != nil {
			a.rec.Result = ""
			a.fail(cutStatus(err))
			a.recordEnd(s)
			return &a.rec, err
		}
		if a.rec.Status == plan.OK || a.hadEffects || a.n >= x.cfg.StepAttempts {
			break
		}
	}
	a.recordEnd(s)
	verdict, err := s.Guards(engine.AfterStep, func(source string) map[string]any {
		v := s.View()
		return v.StepEnv(source, &a.rec)
	})
	if again := verdict.ReplanRequest(); again != nil {
		visit.replanErr = again
	}
	return &a.rec, cmp.Or(err, replan)
}

// recordEnd records that the step has ended.
func (a *attempt) recordEnd(s engine.Scope) {
	a.rec.DurationMS = (s.Now() - a.began).Milliseconds()
	s.Record(engine.StepEnded{Record: a.rec})
}

// fill returns a step with its references filled in.
func fill(s engine.Scope, st plan.Step) (plan.Step, error) {
	v := s.View()
	return planning.Fill(&v, st)
}

// try makes one attempt within step_timeout, and verifies it.
func (a *attempt) try(s engine.Scope) error {
	a.rec.Status, a.rec.Error, a.rec.Result, a.rec.Notes, a.rec.Failure = "", "", "", "", nil
	if a.n > 1 {
		s = s.Child("attempt." + strconv.Itoa(a.n))
	}
	outer := s
	err := s.Timeout("", a.x.cfg.StepTimeout, func(s engine.Scope) error {
		if err := a.execute(s); err != nil {
			return err
		}
		if a.rec.Status == plan.OK {
			return a.verify(s)
		}
		return nil
	})
	if engine.TimedOut(err) {
		if err := outer.Await(alwaysTrue); err != nil {
			return err // the run ended, not the step's time
		}
		a.fail(plan.Timeout, fmt.Sprintf("the step timed out after %s", a.x.cfg.StepTimeout))
		return nil
	}
	return err
}

func alwaysTrue() bool { return true }

func (a *attempt) execute(s engine.Scope) error {
	if !a.x.cfg.Agent.IsZero() {
		return a.delegate(s)
	}
	switch a.x.cfg.Mode {
	case guided:
		if len(a.st.Tools) > 0 {
			return a.guided(s)
		}
	case reactText:
		return a.loop(s, &textual{})
	}
	return a.loop(s, &native{})
}

func (a *attempt) end(status plan.Status, result string) {
	a.rec.Status, a.rec.Result = status, result
}

func (a *attempt) fail(status plan.Status, why string) {
	a.rec.Status, a.rec.Error = status, why
}

// ask calls the executor's LLM for this step. A failed call fails the step; the run fails
// only if every other step would fail too.
func (a *attempt) ask(s engine.Scope, name string, c model.Call) (*model.Reply, error) {
	c.StepID, c.Step = a.st.ID, a.st.Goal
	if c.LLM == "" {
		c.LLM = a.x.cfg.LLM.Name
	}
	r, err := s.Model(name, c)
	if err == nil {
		a.rec.Usage.AddCall(r)
		return r, nil
	}
	if m := model.AsError(err); m != nil && !m.Permanent() && !isInterrupted(err) {
		a.fail(plan.Failed, err.Error())
		a.rec.Failure = m
		return nil, nil
	}
	return nil, err
}

// call runs one tool call and adds it to the record.
func (a *attempt) call(s engine.Scope, name string, u *engine.Invocation) (tool.Record, error) {
	u.StepID, u.Step = a.st.ID, &a.rec
	u.Refuse = a.refuse(s, u.Tool)
	rec, wrote, err := s.Tool(name, *u)
	a.hadEffects = a.hadEffects || wrote
	return rec, err
}

// refuse returns why the step cannot use a tool, or "".
func (a *attempt) refuse(s engine.Scope, tool string) string {
	v := s.View()
	if tools := a.x.StepTools(v); len(tools) < len(v.Tools) {
		if _, ok := findTool(tools, tool); !ok {
			return fmt.Sprintf("the tool %q is not available in this step; the tools are %s", tool, strings.Join(planning.ToolNames(tools), ", "))
		}
	}
	return ""
}

// addCalls adds finished calls to the record, in call order.
func (a *attempt) addCalls(s engine.Scope, recs []tool.Record) {
	a.rec.ToolCalls = append(a.rec.ToolCalls, recs...)
	for _, rec := range recs {
		if t := toolSpec(s.View().Program, rec.Tool); t != nil && t.IncludeOutput && rec.Status == tool.CallOK {
			a.rec.Notes += rec.Tool + ": " + rec.Text() + "\n"
		}
	}
}

func toolSpec(p *engine.Program, name string) *tool.Spec {
	for i := range p.Tools {
		if p.Tools[i].Name == name {
			return &p.Tools[i]
		}
	}
	return nil
}
