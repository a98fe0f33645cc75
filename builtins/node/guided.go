package node

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// guided runs the step's first tool without a model turn and takes the tool's result as
// the step's. The arguments are those of the step; else the goal, if the tool's only
// required argument is a string; else a model generates them, as a tool call or as JSON
// text.
func (a *attempt) guided(s engine.Scope) error {
	v := s.View()
	t := a.st.Tools[0]
	s = s.Child(turnName(1))
	args, repairs, err := a.arguments(s, &v, t)
	if err != nil || args == nil {
		return err
	}
	rec, err := a.call(s, "tool.0", &engine.Invocation{Tool: t, Args: args, Repairs: repairs, Context: a.situation(&v)})
	if rec.Status != "" {
		a.addCalls(s, []tool.Record{rec})
	}
	if err != nil {
		return err
	}
	a.end(plan.OK, rec.Text())
	if rec.Status != tool.CallOK {
		a.fail(plan.Failed, fmt.Sprintf("%s: %s", t, rec.Text()))
		a.rec.Result = ""
	}
	return nil
}

// arguments returns the arguments for the tool. If args is nil, the step has ended.
func (a *attempt) arguments(s engine.Scope, v *engine.View, t string) (args json.RawMessage, repairs []tool.ArgsRepair, err error) {
	if len(a.st.Args) > 0 {
		return jsonvalue.Encode(a.st.Args), nil, nil
	}
	info, ok := findTool(v.Tools, t)
	if !ok {
		return json.RawMessage("{}"), nil, nil // the call itself reports the unknown tool
	}
	if name := onlyString(info.Input); name != "" {
		return jsonvalue.Encode(map[string]string{name: a.st.Goal}), nil, nil
	}
	if !wantsArguments(info.Input) {
		return json.RawMessage("{}"), nil, nil
	}
	defs := toolDefs([]tool.Info{info})
	a.delivered = delivered(len(v.State.UserMessages))
	d := newTranscript(a.x.opening(v, a.st), defs)
	if err := d.compact(s, a); err != nil {
		return nil, nil, err
	}
	messages := append(d.sent, model.Message{Role: model.User, Text: model.Text{guidedArgs, "\n\n", situationText(a.situation(v), false)}})
	var r *model.Reply
	for n := 1; n == 1 || isInterrupted(err); n++ {
		messages = a.delivered.extend(s, messages)
		r, err = a.ask(s, attemptPath("model", n), model.Call{Role: "executor", PerStep: true, Messages: messages, Tools: defs, Interruptible: true, Files: true})
	}
	if err != nil || r == nil {
		return nil, nil, err
	}
	a.delivered.markSeen(s, false)
	d.record(s, messages[len(messages)-1], model.Message{Role: model.Assistant, Text: textOf(r.Text), Calls: r.Calls, Reply: r})
	for _, c := range r.Calls {
		if c.Name == t {
			return c.Args, nil, nil
		}
	}
	args, repairs = writtenArguments(s, r, t)
	if args == nil {
		a.fail(plan.Failed, "the model returned no valid arguments for "+t+": "+r.Text)
	}
	return args, repairs, nil
}

// writtenArguments parses arguments that a model wrote as text. It returns nil unless the
// reply contains exactly one object that matches the tool's schema.
func writtenArguments(s engine.Scope, r *model.Reply, t string) (json.RawMessage, []tool.ArgsRepair) {
	got := reply.Fit(r.Text, reply.Options{Truncated: r.Stop == model.MaxTokens, Wrapped: true}, func(args json.RawMessage) bool {
		return s.Fits(t, args) == nil
	})
	if len(got.Repairs) == 0 {
		return got.Value, nil
	}
	return got.Value, []tool.ArgsRepair{{Repair: strings.Join(got.Repairs, ", "), Written: jsonvalue.Encode(r.Text), Used: got.Value}}
}

func wantsArguments(schema json.RawMessage) bool {
	var in inputSchema
	return json.Unmarshal(schema, &in) != nil || len(in.Required) > 0
}
