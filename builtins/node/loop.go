package node

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// protocol defines how a model requests tools and receives their results.
type protocol interface {
	// open prepares the first messages for the protocol and returns the tool definitions
	// of the request.
	open(messages []model.Message, tools []tool.Info) ([]model.Message, []model.ToolDef)
	// read parses a reply.
	read(r *model.Reply, turn int) parsedReply
	// appendTurn adds a reply and its tool results to the conversation.
	appendTurn(messages []model.Message, r *model.Reply, calls []model.ToolCall, results []tool.Record) []model.Message
}

// parsedReply is the content of a reply: tool calls, or the answer. If it is neither,
// retry is the message to send to the model.
type parsedReply struct {
	calls     []model.ToolCall
	answer    string
	isRefusal bool // the answer is a refusal, detected in its text
	retry     string
}

// loop is the ReAct loop of a step: the model replies, its tool calls run, and so on
// until the model reports a result or no turns are left.
func (a *attempt) loop(s engine.Scope, p protocol) error {
	d, defs, limits := a.open(s, p)
	repeats := &repetition{max: limits.MaxConsecutiveToolCalls}
	step := s
	for turn := 1; turn <= limits.ExecutorMaxIterations; turn++ {
		s := step.Child(turnName(turn))
		r, err := a.turn(s, d, defs)
		if err != nil || r == nil {
			d.record(step)
			return err
		}
		a.delivered.markSeen(s, false)
		got := a.checkFinalReport(step, p.read(r, turn), r, turn)
		calls := got.calls
		switch {
		case got.retry != "":
			a.requestAgain(s, d, r, got.retry)
			continue
		case len(calls) == 0 && turn < limits.ExecutorMaxIterations && a.mustReconsider(s):
			d.grow(append(d.sent, model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Reply: r}))
			continue
		case len(calls) == 0:
			d.recordReply(step, r, nil)
			a.report(s, r, got)
			return nil
		}
		repeats.turn = turn
		results, looped, err := a.calls(s, calls, repeats, r.Stop == model.MaxTokens)
		a.addCalls(s, results)
		if err != nil || looped != "" {
			d.recordReply(step, r, calls)
		}
		if err != nil {
			return err
		}
		if looped != "" {
			a.fail(plan.Loop, looped)
			return nil
		}
		d.grow(p.appendTurn(d.sent, r, calls, results))
	}
	d.record(step)
	a.fail(plan.Limit, fmt.Sprintf("no answer after %d model calls (limits.executor_max_iterations)", limits.ExecutorMaxIterations))
	return nil
}

// addMessages adds the user's messages that arrived since the last call to the conversation.
func (a *attempt) addMessages(s engine.Scope, d *transcript) {
	if added := a.delivered.next(s); len(added) > 0 {
		d.grow(append(d.sent, turnMessage(added)))
	}
}

// mustReconsider reports whether a message arrived that no later step or node would see.
func (a *attempt) mustReconsider(s engine.Scope) bool {
	v := s.View()
	return a.delivered.lacks(s) && a.x.isLast(&v, a.st)
}

// requestAgain adds an invalid reply and the request for another one to the conversation.
func (a *attempt) requestAgain(s engine.Scope, d *transcript, r *model.Reply, why string) {
	s.Record(engine.WarningAdded{Text: "step " + a.st.ID + ": executor reply was invalid and was requested again: " + why, Repair: engine.ExecutorRetried})
	d.grow(append(d.sent, model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Reply: r},
		model.Message{Role: model.User, Text: model.Text{why}}))
}

// open returns the conversation of a step and what its loop needs of the program.
func (a *attempt) open(s engine.Scope, p protocol) (d *transcript, defs []model.ToolDef, limits *engine.Limits) {
	v := s.View()
	a.delivered = delivered(len(v.State.UserMessages))
	opening, defs := p.open(a.x.opening(&v, a.st), a.x.StepTools(v))
	return newTranscript(opening, defs), defs, &v.Program.Limits
}

// checkFinalReport checks a report that is to be the answer of the run, and asks the
// model to fix it if it does not match the output schema. It does not ask after the last
// turn, nor in a run whose journal predates this check.
func (a *attempt) checkFinalReport(s engine.Scope, got parsedReply, r *model.Reply, turn int) parsedReply {
	whole := !got.isRefusal && (r.Stop == model.EndTurn || r.Stop == model.StopSequence || r.Stop == "")
	if len(got.calls) > 0 || got.retry != "" || !whole {
		return got
	}
	if last := turn >= s.View().Program.Limits.ExecutorMaxIterations || s.Omits(turnName(turn+1)); !last {
		got.retry = a.checkReport(s, got.answer)
	}
	return got
}

// turnName returns the path of a turn, such as "turn.3". Most steps have few turns.
func turnName(turn int) string {
	switch turn {
	case 1:
		return "turn.1"
	case 2:
		return "turn.2"
	case 3:
		return "turn.3"
	}
	return "turn." + strconv.Itoa(turn)
}

// turn adds the messages of the user, compacts the conversation and requests the next reply.
// It requests it again if a message interrupted the call.
func (a *attempt) turn(s engine.Scope, d *transcript, tools []model.ToolDef) (*model.Reply, error) {
	compacting := s
	for n := 1; ; n++ {
		a.addMessages(s, d)
		if err := d.compact(compacting, a); err != nil {
			return nil, err
		}
		r, err := a.ask(s, attemptPath("model", n), model.Call{
			Role: "executor", PerStep: true, Messages: d.sent, Tools: tools, Parallel: a.x.cfg.ParallelToolCalls, Interruptible: true, Files: true,
		})
		if !isInterrupted(err) {
			return r, err
		}
		compacting = s.Child(attemptPath("again", n+1))
	}
}

// report ends the attempt with the model's final reply.
func (a *attempt) report(s engine.Scope, r *model.Reply, got parsedReply) {
	switch r.Stop {
	case model.Refusal, model.ContentFiltered, model.Guardrail:
		a.end(plan.Failed, got.answer)
		a.rec.Error = "the model refused (" + string(r.Stop) + ")"
	case model.MaxTokens:
		a.end(plan.Limit, got.answer)
		a.rec.Error = "the report was " + truncationText(s.View().Program, a.x.cfg.LLM.Name, r)
	default:
		a.end(plan.OK, got.answer)
		if got.isRefusal {
			a.fail(plan.Failed, "the model refused")
		}
	}
}

// calls runs the tool calls of one turn, in parallel if the spec allows it, and returns
// their records in call order. If the model keeps repeating a call, looped describes it.
// cut reports whether the reply was truncated at the output limit.
func (a *attempt) calls(s engine.Scope, calls []model.ToolCall, repeats *repetition, cut bool) (results []tool.Record, looped string, err error) {
	results = make([]tool.Record, len(calls))
	todo, looped := repeats.observeAll(calls, results)
	if looped == "" {
		err = (&toolTurn{a: a, calls: calls, results: results, cut: cut}).run(s, todo)
	}
	if looped != "" || err != nil {
		results = compactRecords(results)
	}
	return results, looped, err
}

// toolTurn is the tool calls of one reply. After a guard has requested a new plan, running
// calls finish and no others start.
type toolTurn struct {
	a       *attempt
	calls   []model.ToolCall
	results []tool.Record // in call order
	cut     bool          // the reply was truncated at the output limit
	urged   error         // a guard's request for a new plan
}

// run runs the calls with the indexes in todo.
func (t *toolTurn) run(s engine.Scope, todo []int) error {
	if len(todo) >= 2 && t.a.x.cfg.ParallelToolCalls {
		err := s.Parallel(len(todo), func(int) string { return "" }, func(k int, s engine.Scope) error { return t.call(s, todo[k]) })
		return cmp.Or(err, t.urged)
	}
	for _, i := range todo {
		if err := t.call(s, i); err != nil {
			return err
		}
	}
	return t.urged
}

// toolName returns the path of a call of a turn, such as "tool.0".
func toolName(call int) string {
	if call == 0 {
		return "tool.0"
	}
	return "tool." + strconv.Itoa(call)
}

func (t *toolTurn) call(s engine.Scope, i int) (err error) {
	if t.urged != nil {
		return nil
	}
	c := &t.calls[i]
	t.results[i], err = t.a.call(s, toolName(i), &engine.Invocation{
		Tool: c.Name, Args: c.Args, CallID: c.ID, Truncated: t.cut, Obsolete: func() error { return t.urged },
	})
	if errors.Is(err, engine.ErrReplan) {
		t.urged, t.a.visit.replanErr, err = err, err, nil
	}
	return err
}

// compactRecords removes the records of calls that were not made.
func compactRecords(results []tool.Record) []tool.Record {
	var out []tool.Record
	for i := range results {
		if results[i].Status != "" {
			out = append(out, results[i])
		}
	}
	return out
}

// repetition counts how often the same call is made in a row.
type repetition struct {
	max        int
	turn       int // the current turn
	name       string
	args       []byte
	count      int
	warnedTurn int // the turn whose call got the warning
}

// observeAll counts calls and returns the indexes of those to make; the others get their
// result. If the model keeps repeating a call, looped describes it.
func (r *repetition) observeAll(calls []model.ToolCall, results []tool.Record) (todo []int, looped string) {
	todo = make([]int, 0, len(calls))
	for i, c := range calls {
		warning, again := r.observe(c)
		if again {
			return nil, warning
		}
		if warning != "" {
			results[i] = tool.Record{Tool: c.Name, Args: jsonOr(c.Args), Status: tool.CallError, Result: warning}
			continue
		}
		todo = append(todo, i)
	}
	return todo, ""
}

// observe counts a call. A call over the limit returns a warning to use as its result. If
// the model repeats it in a later turn, after seeing the warning, again is true and the
// step ends.
func (r *repetition) observe(c model.ToolCall) (warning string, again bool) {
	if c.Name != r.name || !bytes.Equal(c.Args, r.args) && !bytes.Equal(canonical(c.Args), canonical(r.args)) {
		*r = repetition{max: r.max, turn: r.turn, name: c.Name, args: c.Args}
	}
	r.count++
	if r.max <= 0 || r.count <= r.max {
		return "", false
	}
	if r.warnedTurn > 0 && r.warnedTurn < r.turn {
		return fmt.Sprintf("%s was called %d times in a row with the same arguments (limits.max_consecutive_tool_calls)", c.Name, r.count), true
	}
	r.warnedTurn = r.turn
	return fmt.Sprintf("You already made this exact call %d times in a row. It was not repeated because the result will not change. Try something else, or report what you have.", r.max), false
}

// canonical encodes arguments so that equal values have equal bytes.
func canonical(args json.RawMessage) []byte {
	v, err := reply.Decode(args)
	if err != nil {
		return args
	}
	return jsonvalue.Encode(v)
}

func jsonOr(args json.RawMessage) json.RawMessage {
	if json.Valid(args) {
		return args
	}
	return json.RawMessage("{}")
}
